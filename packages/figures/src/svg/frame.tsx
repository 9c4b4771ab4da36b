/** @file The frame of every figure: size, themes, hatches, name and description for those who do not see it. */
import type { ComponentChildren, VNode } from 'preact';
import { render } from 'preact-render-to-string';
import { customProperties, dark, light } from '../palette/index.ts';

/** What a figure says about itself, and its size in CSS pixels. */
export interface FrameProps {
  readonly width: number;
  readonly height: number;
  /** The name of the figure, read aloud first. */
  readonly title: string;
  /** What it shows, in sentences: the figure for those who do not see it. */
  readonly description: string;
  readonly children?: ComponentChildren;
}

const family = 'system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",Arial,sans-serif';

/** Light, dark where the reader prefers it, and either where the page says so (`data-theme`). */
const style: string = [
  `.mw{${customProperties(light)}}`,
  `@media(prefers-color-scheme:dark){.mw:not([data-theme=light]){${customProperties(dark)}}}`,
  `.mw[data-theme=dark]{${customProperties(dark)}}`,
  `.mw text{font-family:${family};font-size:12px;font-variant-numeric:tabular-nums;fill:var(--mw-text)}`,
  '.mw .h1{font-size:17px;font-weight:600}.mw .h2{font-size:13px;font-weight:600}.mw .small{font-size:11px}',
  '.mw .quiet{fill:var(--mw-quiet)}.mw .alarm{fill:var(--mw-alarm)}.mw .bold{font-weight:600}',
  '.mw .end{text-anchor:end}.mw .middle{text-anchor:middle}',
].join('');

/** One figure as an SVG element that stands alone or inside a page. */
export function Frame({ width, height, title, description, children }: FrameProps): VNode {
  return (
    <svg
      xmlns="http://www.w3.org/2000/svg"
      class="mw"
      role="img"
      aria-label={title}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
    >
      <title>{title}</title>
      <desc>{description}</desc>
      <style>{style}</style>
      <defs>
        <Hatch id="mw-idle" stroke="var(--mw-line)" />
        <Hatch id="mw-again" stroke="var(--mw-background)" />
        <Hatch id="mw-over" stroke="var(--mw-alarm)" />
      </defs>
      <rect width={width} height={height} fill="var(--mw-background)" />
      {children}
    </svg>
  );
}

/** Lines at 45 degrees: what is idle, done again or too much has a hatch beside its colour. */
function Hatch({ id, stroke }: { readonly id: string; readonly stroke: string }): VNode {
  return (
    <pattern id={id} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <line x1="0" y1="0" x2="0" y2="5" stroke={stroke} stroke-width="2.4" />
    </pattern>
  );
}

/** The text of an SVG file; elements stand on lines of their own, so that two files can be compared. */
export const svgText = (figure: VNode): string => `${render(figure).replaceAll('><', '>\n<')}\n`;
