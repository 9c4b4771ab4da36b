/** @file How the value of one layout key is read, from YAML or from the text of a flag. */
import { type Code, didYouMean, quote, quoteName } from '../errors/index.ts';
import { axisShortNames, type LayoutRequest } from '../layout/index.ts';

/** What is wrong with a value; the caller adds the path. */
export interface Problem {
  readonly code: Code;
  readonly message: string;
  readonly hint: string;
}

/** A value that was read, or what is wrong with it. */
export type Read<T> = { readonly value: T } | { readonly problem: Problem };

/** Reads a value that YAML or the text form gave. */
export type Reader<T> = (value: unknown) => Read<T>;

const ok = <T>(value: T): Read<T> => ({ value });
const wrong = (code: Code, message: string, hint: string): { readonly problem: Problem } => ({
  problem: { code, message, hint },
});

const LARGEST_DEGREE = 2 ** 20;

/** A whole number from `min` to `max`. */
export function whole(min: number, max: number = LARGEST_DEGREE): Reader<number> {
  return (value) => {
    const range = `Use a whole number from ${min} to ${max}.`;
    if (typeof value !== 'number') return wrong('VALUE_WRONG_TYPE', `${quote(value)} is not a whole number.`, range);
    if (!Number.isFinite(value)) return wrong('VALUE_OUT_OF_RANGE', `${value} is not a finite number.`, range);
    if (!Number.isInteger(value)) return wrong('VALUE_WRONG_TYPE', `${value} is not a whole number.`, range);
    if (value < min) return wrong('VALUE_OUT_OF_RANGE', `${value} is below ${min}.`, range);
    return value > max ? wrong('VALUE_OUT_OF_RANGE', `${value} is above ${max}.`, range) : ok(value);
  };
}

/** A number above 0, up to `max`. */
export function positive(max: number): Reader<number> {
  return (value) => {
    const range = `Use a number above 0 and up to ${max}.`;
    if (typeof value !== 'number') return wrong('VALUE_WRONG_TYPE', `${quote(value)} is not a number.`, range);
    if (!Number.isFinite(value)) return wrong('VALUE_OUT_OF_RANGE', `${value} is not a finite number.`, range);
    return value > 0 && value <= max ? ok(value) : wrong('VALUE_OUT_OF_RANGE', `${value} is not in range.`, range);
  };
}

/** One of `names`; those of `later` are refused as not priced yet, with `instead` in their place. */
export function oneOf<T extends string>(names: readonly T[], later: readonly string[] = [], instead = ''): Reader<T> {
  return (value) => {
    const list = `Use ${names.join(', ')}.`;
    if (typeof value !== 'string') return wrong('VALUE_WRONG_TYPE', `${quote(value)} is not a name.`, list);
    if ((names as readonly string[]).includes(value)) return ok(value as T);
    if (later.includes(value)) return wrong('VALUE_NOT_YET', `${value} is not priced yet.`, `Use ${instead}.`);
    const near = didYouMean(value, [...names, ...later]);
    return wrong('VALUE_UNKNOWN', `${quote(value)} is not a known name.`, near ? `Did you mean ${near}?` : list);
  };
}

/** Some of `names`, joined by `+` or as a list, or `none`; those of `later` are refused as not priced yet. */
export function namesOf<T>(
  names: readonly string[],
  later: readonly string[],
  make: (given: readonly string[]) => T,
): Reader<T> {
  const help = `Use some of ${names.join(', ')}, joined by +, or none.`;
  return (value) => {
    const given = value === 'none' ? [] : typeof value === 'string' ? value.split('+') : value;
    if (!Array.isArray(given)) return wrong('VALUE_WRONG_TYPE', `${quote(value)} is not a list of names.`, help);
    for (const each of given as readonly unknown[]) {
      const name = typeof each === 'string' ? each.trim() : each;
      if (typeof name !== 'string') return wrong('VALUE_WRONG_TYPE', `${quote(each)} is not a name.`, help);
      if (names.includes(name)) continue;
      if (later.includes(name)) return wrong('VALUE_NOT_YET', `${name} is not priced yet.`, help);
      const near = didYouMean(name, [...names, ...later]);
      return wrong('VALUE_UNKNOWN', `${quote(name)} is not a known name.`, near ? `Did you mean ${near}?` : help);
    }
    return ok(make((given as readonly string[]).map((name) => name.trim())));
  };
}

/** on or off, true or false. */
export const onOff: Reader<boolean> = (value) => {
  if (typeof value === 'boolean') return ok(value);
  if (value === 'on') return ok(true);
  if (value === 'off') return ok(false);
  return wrong('VALUE_WRONG_TYPE', `${quote(value)} is neither on nor off.`, 'Use on or off.');
};

/** 0 to 3, or `ddp` and `fsdp` for the ends. */
export const shardingLevel: Reader<NonNullable<LayoutRequest['sharding']>> = (value) => {
  if (value === 'ddp') return ok(0);
  if (value === 'fsdp') return ok(3);
  if (value === 0 || value === 1 || value === 2 || value === 3) return ok(value);
  const code = typeof value === 'number' ? 'VALUE_OUT_OF_RANGE' : 'VALUE_WRONG_TYPE';
  return wrong(code, `${quote(value)} is not a level of sharding.`, 'Use 0 (DDP), 1, 2 or 3 (FSDP).');
};

/** Data ranks, and the sets of shards that they make. */
export interface DataRanks {
  readonly data: number;
  readonly replicate: number;
}

/** A number of ranks, or `{shard, replicate}`: ranks of a set of shards times sets that repeat each other. */
export const dataDegree: Reader<number | DataRanks> = (value) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return whole(1)(value);
  const { shard, replicate = 1, ...rest } = value as Readonly<Record<string, unknown>>;
  const [odd] = Object.keys(rest);
  if (odd !== undefined) {
    return wrong('KEY_UNKNOWN', `data does not take ${quoteName(odd)}.`, 'Use shard and replicate.');
  }
  const inside = whole(1)(shard);
  const sets = whole(1)(replicate);
  if ('problem' in inside) return inside;
  if ('problem' in sets) return sets;
  return ok(sets.value === 1 ? inside.value : { data: inside.value * sets.value, replicate: sets.value });
};

/** A list of layers per chunk; as text `20-20-20`. A single number is a list of one. */
export const layerCounts: Reader<readonly number[]> = (value) => {
  const items = typeof value === 'string' ? value.split('-').map(numberOf) : Array.isArray(value) ? value : [value];
  if (value === 'balanced') return wrong('VALUE_WRONG_TYPE', 'balanced is what is used anyway.', 'Remove the key.');
  if (items.length === 0) return wrong('VALUE_WRONG_TYPE', 'the list is empty.', 'Give the layers of every chunk.');
  for (const item of items) {
    const read = whole(0, 4096)(item);
    if ('problem' in read) return { problem: { ...read.problem, hint: 'Give one whole number per chunk: 20-20-20.' } };
  }
  return ok(Object.freeze([...(items as readonly number[])]));
};

type DenseAxis = keyof typeof axisShortNames;
const everyAxis: readonly DenseAxis[] = ['tensor', 'context', 'expert', 'data', 'pipeline'];
const axisNamed = (name: unknown): DenseAxis | undefined =>
  everyAxis.find((axis) => axis === name || axisShortNames[axis] === name);

/** Axes, fastest first: `tp-dp-pp` or a list. Axes that are left out follow in the usual order; they have degree 1. */
export const axisOrder: Reader<readonly DenseAxis[]> = (value) => {
  const help = 'Use a permutation of tp-cp-ep-dp-pp, fastest axis first.';
  const names = typeof value === 'string' ? value.split('-') : value;
  if (!Array.isArray(names)) return wrong('VALUE_WRONG_TYPE', `${quote(value)} is not an order of axes.`, help);
  const order: DenseAxis[] = [];
  for (const name of names as readonly unknown[]) {
    const axis = axisNamed(name);
    if (axis === undefined) {
      const shown = typeof name === 'string' ? quoteName(name) : quote(name);
      return wrong('VALUE_UNKNOWN', `${shown} is not an axis.`, help);
    }
    if (order.includes(axis)) return wrong('ORDER_AXIS_TWICE', `the axis ${axis} is named twice.`, help);
    order.push(axis);
  }
  return ok(Object.freeze([...order, ...everyAxis.filter((axis) => !order.includes(axis))]));
};

/** A token of the text form as YAML would read it: numbers and true or false become what they look like. */
export function tokenValue(token: string): unknown {
  if (token === 'true' || token === 'false') return token === 'true';
  return numberOf(token);
}

const numberOf = (token: string): number | string =>
  /^-?\d+(\.\d+)?$/.test(token) ? Number(token) : /^-?\.?(nan|inf)/i.test(token) ? Number.NaN : token;
