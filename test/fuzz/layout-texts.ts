/** @file Layout texts `tp=8,pp=4` of every key that is priced or known, mostly of the kind that the reader takes. */
import { axisShortNames, type LayoutKey, laterLayoutKeys, layoutKeys } from '@meshwright/core/layout';
import type { Draws } from './random.ts';
import { mutateText } from './tree.ts';

const degrees = ['1', '1', '1', '2', '2', '2', '4', '4', '8', '3', '16', '64', '1000', '65536', '9007199254740991'];
const odd = [
  '0',
  '-1',
  '1.5',
  '1e3',
  '1e400',
  'NaN',
  'Infinity',
  '-Infinity',
  'null',
  'on',
  'none',
  '[]',
  '{}',
  '__proto__',
  'auto',
  '99999999999999999999',
  '0x8',
  '"2"',
  '2-',
  '--',
  '1-1-1',
  'tp-tp',
  '½',
];
const strangeNames = ['__proto__', 'constructor', 'tpp', 'TP', 'tensor_parallel', 'gbs', '', ' ', 'replicate', '--tp'];

function valueOf({ type, names = [], name }: LayoutKey, draws: Draws): string {
  if (draws.chance(0.02)) return draws.pick(odd);
  switch (type) {
    case 'shards':
      return draws.pick(degrees);
    case 'count':
      return name === 'microBatch' || name === 'chunks'
        ? draws.pick(['1', '1', '2', '4', '8', '64'])
        : draws.pick(degrees);
    case 'real':
      return draws.pick(['25', '0.001', '1e-9', '1000', '1000000', '1e300']);
    case 'name':
      return draws.pick(names);
    case 'set':
      return draws.pick(['none', ...names, names.join('+'), names.toReversed().join('+'), `${names[0]}+tensor`]);
    case 'switch':
      return draws.pick(['on', 'off', 'true', 'false']);
    case 'counts':
      return Array.from({ length: 1 + draws.whole(draws.pick([4, 8, 5000])) }, () =>
        draws.pick(['1', '2', '4', '8', '32']),
      ).join('-');
    case 'overrides':
      return draws.pick([
        'none',
        '0-3:full',
        '0-0:none+2-5:selective',
        '7:full',
        '5-2:full',
        '0-99999:full',
        '0-3:often',
      ]);
    case 'axes':
      return Object.values(axisShortNames)
        .sort(() => draws.real() - 0.5)
        .slice(draws.whole(5) === 0 ? 1 : 0)
        .join('-');
  }
}

/** A text of a few keys; one in ten has its characters changed too. */
export function layoutText(draws: Draws): string {
  const share = draws.pick([0.05, 0.08, 0.15, 0.3, 0.9]);
  const given = layoutKeys
    .filter(() => draws.chance(share))
    .map(
      (key) =>
        `${draws.pick(key.type === 'shards' ? [key.short] : [key.short, key.name, ...key.aliases])}=${valueOf(key, draws)}`,
    );
  if (draws.chance(0.05)) given.push(`${draws.pick(laterLayoutKeys).short}=${draws.pick(['none', 'block', ...odd])}`);
  if (draws.chance(0.05)) given.push(`${draws.pick(strangeNames)}=${draws.pick(degrees)}`);
  if (draws.chance(0.03)) given.push(given[0] ?? 'tp');
  const text = given.sort(() => draws.real() - 0.5).join(',');
  return draws.chance(0.1) ? mutateText(text, draws) : text;
}
