/** @file Generated overrides of layers. */
import fc from 'fast-check';
import type { Layout, Recompute } from './types.ts';

/** No layer is run again in whole. */
export const recomputesNone = ({ recompute, layers }: Pick<Layout, 'recompute' | 'layers'>): boolean =>
  recompute !== 'full' && layers.every((each) => each.recompute !== 'full');

/** What the first layers recompute otherwise; mostly nothing. */
export const overrideDraws: fc.Arbitrary<readonly Recompute[]> = fc.oneof(
  fc.constant([]),
  fc.array(fc.constantFrom<Recompute>('none', 'selective', 'full'), { maxLength: 6 }),
);

/** The rows of a draw, as far as there are layers. */
export const overridesFor = (draw: readonly Recompute[], layers: number): Layout['layers'] =>
  draw.slice(0, layers).map((recompute, at) => ({ from: at, to: at, recompute }));
