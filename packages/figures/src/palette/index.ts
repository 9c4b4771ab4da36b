/** @file The one palette, by meaning. Searched for the largest smallest difference (CIEDE2000) over normal, protan, deutan
 * and tritan vision with a contrast of at least 3 on the background; palette.test.ts recomputes both. Idle is not a
 * colour but a hatch; colour is never alone.
 */

/** What an operation does, as figures colour it. */
export type OperationRole = 'forward' | 'backward' | 'backwardWeight' | 'optimizer' | 'collective' | 'send';

/** What memory holds, from the bottom of a stack up. */
export type MemoryRole = 'weights' | 'gradients' | 'optimizer' | 'activations' | 'buffers' | 'reserve';

/** Background, text and lines. */
export type SurfaceRole = 'background' | 'panel' | 'text' | 'quiet' | 'line' | 'alarm';

/** The colours of one theme, as `#rrggbb`. */
export interface Theme {
  readonly surface: Readonly<Record<SurfaceRole, string>>;
  readonly operation: Readonly<Record<OperationRole, string>>;
  readonly memory: Readonly<Record<MemoryRole, string>>;
}

export const light: Theme = {
  surface: {
    background: '#ffffff',
    panel: '#f4f5f7',
    text: '#1b1f24',
    quiet: '#59636e',
    line: '#c4cad1',
    alarm: '#b3261e',
  },
  operation: {
    forward: '#4322e7',
    backward: '#c28505',
    backwardWeight: '#913f03',
    optimizer: '#329a7d',
    collective: '#aa72fb',
    send: '#015147',
  },
  memory: {
    weights: '#145dda',
    gradients: '#cc6900',
    optimizer: '#4fa377',
    activations: '#865065',
    buffers: '#422764',
    reserve: '#878a9f',
  },
};

export const dark: Theme = {
  surface: {
    background: '#14171c',
    panel: '#1c2027',
    text: '#e8eaed',
    quiet: '#a3abb5',
    line: '#444b55',
    alarm: '#ff8a80',
  },
  operation: {
    forward: '#7667f8',
    backward: '#ffca85',
    backwardWeight: '#be3f65',
    optimizer: '#7a980c',
    collective: '#cfbcff',
    send: '#41aa9f',
  },
  memory: {
    weights: '#84b5f8',
    gradients: '#fcb85e',
    optimizer: '#399359',
    activations: '#ab7690',
    buffers: '#7b65e9',
    reserve: '#c3c7cb',
  },
};

/** The CSS custom property of a surface role. */
export const surface = (role: SurfaceRole): string => `var(--mw-${role})`;
/** The CSS custom property of an operation's colour. */
export const operationColour = (role: OperationRole): string => `var(--mw-op-${role})`;
/** The CSS custom property of text that stands on an operation's colour. */
export const onOperation = (role: OperationRole): string => `var(--mw-on-op-${role})`;
/** The CSS custom property of a part of memory. */
export const memoryColour = (role: MemoryRole): string => `var(--mw-memory-${role})`;

/** Declarations of all custom properties of a theme. */
export function customProperties(theme: Theme): string {
  const pairs = [
    ...Object.entries(theme.surface).map(([role, colour]) => `--mw-${role}:${colour}`),
    ...Object.entries(theme.operation).map(([role, colour]) => `--mw-op-${role}:${colour}`),
    ...Object.entries(theme.operation).map(([role, colour]) => `--mw-on-op-${role}:${textOn(colour)}`),
    ...Object.entries(theme.memory).map(([role, colour]) => `--mw-memory-${role}:${colour}`),
  ];
  return pairs.join(';');
}

/** Black or white, whichever stands out more against `colour` (WCAG 2 contrast). */
export function textOn(colour: string): '#000000' | '#ffffff' {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return (luminance + 0.05) ** 2 > 1.05 * 0.05 ? '#000000' : '#ffffff';
}
