/** @file How overrides for single layers are read: a list of mappings, or text such as `0-9:full+20-29:none`. */
import { quote, quoteName } from '../errors/index.ts';
import { type LayerOverride, layoutKeys, noOverrides, type Recompute } from '../layout/index.ts';
import { oneOf, type Problem, type Read, type Reader, tokenValue, whole } from './layout-values.ts';

const MOST_LAYERS = 4096;

const recompute = oneOf((layoutKeys.find(({ name }) => name === 'recompute')?.names ?? []) as readonly Recompute[]);
const layer = whole(0, MOST_LAYERS);

/** Keys of the contract that a row of layers may have one day, and one that it never has. */
const refused: Readonly<Record<string, Problem>> = {
  sharding: notYet('sharding'),
  reshard: notYet('reshard'),
  offload: notYet('offload'),
  tensor: {
    code: 'KEY_UNKNOWN',
    message: 'the tensor degree cannot change inside a stage.',
    hint: 'Use one tensor degree for all layers.',
  },
};

function notYet(key: string): Problem {
  return {
    code: 'LAYOUT_KEY_NOT_YET',
    message: `${key} of single layers is not priced yet.`,
    hint: `Use recompute in layers, and ${key} for the whole layout.`,
  };
}

/** Rows of layers, in the order of their first layers. */
export const layerOverrides: Reader<readonly LayerOverride[]> = (value) => {
  if (value === 'none') return { value: noOverrides };
  const items = typeof value === 'string' ? value.split('+').map(itemOfText) : value;
  if (!Array.isArray(items)) {
    const hint = 'Use a list of {from, to, recompute}, or text such as 0-9:full.';
    return { problem: { code: 'VALUE_WRONG_TYPE', message: `${quote(value)} is not a list of rows.`, hint } };
  }
  const rows: LayerOverride[] = [];
  for (const item of items as readonly unknown[]) {
    const read = rowOf(item);
    if ('problem' in read) return read;
    rows.push(read.value);
  }
  return { value: Object.freeze(rows.sort((a, b) => a.from - b.from)) };
};

/** `0-9:full` and `7:none` as mappings; anything else as it is, to be refused. */
function itemOfText(text: string): unknown {
  const [, from, to = from, kind] = /^(\d+)(?:-(\d+))?:(.+)$/.exec(text.trim()) ?? [];
  return from === undefined ? text : { from: tokenValue(from), to: tokenValue(to ?? ''), recompute: kind };
}

function rowOf(item: unknown): Read<LayerOverride> {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    const hint = 'Use {from: 0, to: 9, recompute: full}, or 0-9:full.';
    return { problem: { code: 'VALUE_WRONG_TYPE', message: `${quote(item)} is not a row of layers.`, hint } };
  }
  const { from, to, recompute: kind, ...rest } = item as Readonly<Record<string, unknown>>;
  const [odd] = Object.keys(rest);
  if (odd !== undefined) return { problem: refusal(odd) };
  for (const [name, given] of Object.entries({ from, to, recompute: kind })) {
    if (given !== undefined) continue;
    const message = `a row of layers has no ${name}.`;
    return { problem: { code: 'KEY_MISSING', message, hint: 'Give from, to and recompute.' } };
  }
  const [first, last, what] = [layer(from), layer(to), recompute(kind)];
  if ('problem' in first) return first;
  if ('problem' in last) return last;
  if ('problem' in what) return what;
  return { value: Object.freeze({ from: first.value, to: last.value, recompute: what.value }) };
}

const refusal = (key: string): Problem =>
  (Object.hasOwn(refused, key) ? refused[key] : undefined) ?? {
    code: 'KEY_UNKNOWN',
    message: `a row of layers does not take ${quoteName(key)}.`,
    hint: 'Use from, to and recompute.',
  };
