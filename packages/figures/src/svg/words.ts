import type { AxisName, Mesh } from '@meshwright/core/mesh';
import { formatWhole } from '@meshwright/core/units';

/** What axes are called: the axis itself, and a place on it. */
export const axisWords: Readonly<
  Record<AxisName, { readonly axis: string; readonly coordinate: string; readonly short: string }>
> = {
  tensor: { axis: 'tensor', coordinate: 'tensor', short: 'tp' },
  context: { axis: 'context', coordinate: 'context', short: 'cp' },
  expert: { axis: 'expert', coordinate: 'expert', short: 'ep' },
  data: { axis: 'data', coordinate: 'data', short: 'dp' },
  pipeline: { axis: 'pipeline', coordinate: 'stage', short: 'pp' },
  expertTensor: { axis: 'expert tensor', coordinate: 'expert tensor', short: 'etp' },
  expertData: { axis: 'expert data', coordinate: 'expert data', short: 'edp' },
};

/** A count with its noun: `1 group`, `1,024 groups`. */
export const counted = (count: number, noun: string): string => `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;

/** A whole number with separators. */
export const grouped = (count: number): string => formatWhole(count);

/** The degrees of a mesh that are not 1, in words: tensor 2, data 2, pipeline 2, with middle dots between. */
export function layoutWords(mesh: Mesh): string {
  const axes = mesh.axes.filter(({ degree }) => degree > 1);
  return axes.length === 0
    ? 'one GPU'
    : axes.map(({ name, degree }) => `${axisWords[name].axis} ${degree}`).join(' \u00b7 ');
}

/** Two amounts joined by a word: `1.07 to 1.10 KiB`; the unit of the first is left out where it is that of the second. */
export function rangeOf(first: string, second: string, word: 'to' | 'of'): string {
  if (word === 'to' && first === second) return second;
  const [amount, unit] = first.split(' ');
  return `${second.endsWith(` ${unit}`) ? amount : first} ${word} ${second}`;
}
