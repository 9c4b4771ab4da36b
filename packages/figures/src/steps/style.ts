/** @file Style of the step-through figure beside that of every figure: numbers on cells, and the one short motion. */
import { dark, light, type MemoryRole, type Theme, textOn } from '../palette/index.ts';

const onCells = (theme: Theme): string =>
  Object.entries(theme.memory)
    .map(([role, colour]) => `--mw-on-memory-${role}:${textOn(colour)}`)
    .join(';');

/** The CSS custom property of text that stands on a part of memory. */
export const onMemory = (role: MemoryRole): string => `var(--mw-on-memory-${role})`;

/** Arrows are drawn in at most 300 ms and then lie still; not at all for those who want no motion. */
export const style: string = [
  `.mw{${onCells(light)}}`,
  `@media(prefers-color-scheme:dark){.mw:not([data-theme=light]){${onCells(dark)}}}`,
  `.mw[data-theme=dark]{${onCells(dark)}}`,
  '.mw .tiny{font-size:10px}',
  // A number on a cell that is partly filled has a rim of the ground.
  '.mw .ringed{paint-order:stroke;stroke:var(--mw-background);stroke-width:2.5px}',
  '@keyframes mw-go{from{stroke-dashoffset:1}to{stroke-dashoffset:0}}',
  '@media(prefers-reduced-motion:no-preference){.mw .go{animation:mw-go .28s ease-out}}',
].join('');
