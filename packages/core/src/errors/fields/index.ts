/** @file Reads typed fields of an untrusted mapping; every problem becomes an issue with the dotted path of its key. */
import { type Code, didYouMean, type Issue, issue, quote, quoteName } from '../index.ts';

export type Mapping = Readonly<Record<string, unknown>>;

/** What a field may hold; `what` names it in messages: "the number of layers". */
export interface FieldRule {
  readonly what: string;
  readonly min?: number;
  readonly max?: number;
  readonly required?: boolean;
  /** A value to show when the key is missing. */
  readonly example?: string;
}

/** Typed access to one mapping. A field that is absent, null or wrong reads as undefined; what is wrong is in `issues`. */
export interface Fields {
  /** Readers that check more add theirs. */
  readonly issues: Issue[];
  /** Path of the mapping itself. */
  readonly path: string;
  /** Path of a key of this mapping. */
  at(key: string): string;
  /** The first of `keys` is there, whatever it holds. */
  has(key: string): boolean;
  integer(keys: readonly string[], rule: FieldRule): number | undefined;
  real(keys: readonly string[], rule: FieldRule): number | undefined;
  boolean(keys: readonly string[], rule: FieldRule): boolean | undefined;
  text(keys: readonly string[], rule: FieldRule): string | undefined;
  /** One of `names`, case ignored. */
  choice<Name extends string>(key: string, names: readonly Name[], code?: Code): Name | undefined;
  /** The fields of the mapping under `key`, which may have the keys `known`; its issues are among these. */
  mapping(key: string, known: readonly string[]): Fields | undefined;
  /** The values of the list under `key`, each with its path. */
  list(key: string): readonly { readonly value: unknown; readonly path: string }[];
  /** The value under the first of `keys` that is present and not null. */
  raw(keys: readonly string[]): { readonly key: string; readonly value: unknown } | undefined;
}

/** True for what YAML calls a mapping and JSON an object. */
export const isMapping = (value: unknown): value is Mapping =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Path of `key` under `path`; an empty path is the document itself. */
export const joinPath = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

/** What a reader of fields may be told. */
export interface FieldOptions {
  /** All keys that the mapping may have: another one is an issue with the nearest of them. */
  readonly known?: readonly string[];
  /** Where issues go; a list of its own when absent. */
  readonly issues?: Issue[];
}

/** Fields of `mapping`, which stands at `path`. The first of several keys is the one that messages name. */
export function fieldsOf(mapping: Mapping, path: string, options: FieldOptions = {}): Fields {
  const { issues = [], known } = options;
  if (known !== undefined) issues.push(...unknownKeys(mapping, path, known));
  const at = (key: string): string => joinPath(path, key);
  const raw: Fields['raw'] = (keys) => {
    for (const key of keys) {
      const value = Object.hasOwn(mapping, key) ? mapping[key] : undefined;
      if (value !== undefined && value !== null) return { key, value };
    }
    return undefined;
  };
  const read = <T>(keys: readonly string[], rule: FieldRule, check: (value: unknown, place: string) => T | Issue) => {
    const found = raw(keys);
    if (!found) {
      if (rule.required) issues.push(missing(at(keys[0] ?? ''), keys[0] ?? '', rule));
      return undefined;
    }
    const result = check(found.value, at(found.key));
    if (!isIssue(result)) return result;
    issues.push(result);
    return undefined;
  };
  return {
    issues,
    path,
    at,
    raw,
    has: (key) => raw([key]) !== undefined,
    choice(key, names, code = 'VALUE_UNKNOWN') {
      const found = raw([key]);
      const name = found && nameIn(found.value, names);
      if (found && name === undefined) issues.push(unknownName(found.value, at(key), names, code));
      return name;
    },
    mapping(key, inner) {
      const found = raw([key]);
      if (found === undefined) return undefined;
      if (isMapping(found.value)) return fieldsOf(found.value, at(key), { known: inner, issues });
      issues.push(wrongType(at(key), found.value, `a mapping of ${inner.join(', ')}`));
      return undefined;
    },
    list(key) {
      const found = raw([key]);
      if (found === undefined) return [];
      if (Array.isArray(found.value))
        return found.value.map((value, index) => ({ value, path: at(`${key}.${index}`) }));
      issues.push(wrongType(at(key), found.value, 'a list'));
      return [];
    },
    integer: (keys, rule) => read(keys, rule, (value, place) => checkNumber(value, place, rule, true)),
    real: (keys, rule) => read(keys, rule, (value, place) => checkNumber(value, place, rule, false)),
    boolean: (keys, rule) =>
      read(keys, rule, (value, place) =>
        typeof value === 'boolean' ? value : wrongType(place, value, 'true or false'),
      ),
    text: (keys, rule) =>
      read(keys, rule, (value, place) => (typeof value === 'string' ? value : wrongType(place, value, 'text'))),
  };
}

function unknownKeys(mapping: Mapping, path: string, known: readonly string[]): readonly Issue[] {
  return Object.keys(mapping)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const near = didYouMean(key, known);
      const hint = near === undefined ? `Use ${known.join(', ')}.` : `Did you mean ${near}?`;
      return issue('KEY_UNKNOWN', joinPath(path, key), `${quoteName(key)} is not a key here.`, hint);
    });
}

/** The name that `value` spells, case ignored. */
export const nameIn = <Name extends string>(value: unknown, names: readonly Name[]): Name | undefined =>
  typeof value === 'string' ? names.find((name) => name.toLowerCase() === value.toLowerCase()) : undefined;

/** Most names that a hint lists; more are left to the nearest ones. */
const LISTED = 24;
/** Most names that hold what was written. */
const LISTED_NEAR = 6;

/** An issue for a name that is none of `names`, with those that hold what was written, else the nearest by
 * spelling. */
export function unknownName(value: unknown, path: string, names: readonly string[], code: Code): Issue {
  const text = typeof value === 'string' ? value : '';
  const near = didYouMean(text, names);
  const holding = text.length < 3 ? [] : names.filter((name) => name.toLowerCase().includes(text.toLowerCase()));
  const meant = holding.length > 0 || near === undefined ? holding.slice(0, LISTED_NEAR) : [near];
  const asked = meant.length > 0 ? `Did you mean ${meant.join(', ')}? ` : '';
  const known = names.length <= LISTED ? `Known: ${names.join(', ')}.` : `${names.length} are known.`;
  const few = `Use one of ${names.slice(0, LISTED).join(', ')} or ${names.length - LISTED} more.`;
  const hint = asked !== '' ? `${asked}${known}` : names.length <= LISTED ? `Use ${names.join(', ')}.` : few;
  return issue(code, path, `${quote(value)} is not one of the ${names.length} known names.`, hint);
}

/** An issue for a value of another type than `expected`, for example "a whole number". */
export const wrongType = (path: string, value: unknown, expected: string): Issue =>
  issue('VALUE_WRONG_TYPE', path, `${quote(value)} is not ${expected}.`, hintFor(value, expected));

const hintFor = (value: unknown, expected: string): string =>
  expected.includes('number') && typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)
    ? 'Remove the quotes.'
    : `Give ${expected}.`;

function missing(path: string, key: string, rule: FieldRule): Issue {
  const hint = rule.example === undefined ? `Add ${key}.` : `Add it, for example ${key}: ${rule.example}.`;
  return issue('KEY_MISSING', path, `${rule.what} is not given.`, hint);
}

function checkNumber(value: unknown, path: string, rule: FieldRule, whole: boolean): number | Issue {
  const kind = whole ? 'a whole number' : 'a number';
  if (typeof value !== 'number') return wrongType(path, value, kind);
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = rule;
  const range = `Use ${kind} from ${min} to ${max}.`;
  const values = { value: String(value), min, max };
  if (!Number.isFinite(value))
    return issue('VALUE_OUT_OF_RANGE', path, `${value} is not a finite number.`, range, values);
  if (whole && !Number.isInteger(value)) return wrongType(path, value, kind);
  if (value < min) return issue('VALUE_OUT_OF_RANGE', path, `${value} is below ${min}.`, range, values);
  if (value > max) return issue('VALUE_OUT_OF_RANGE', path, `${value} is above ${max}.`, range, values);
  return value;
}

const isIssue = (value: unknown): value is Issue => isMapping(value) && 'code' in value && 'severity' in value;
