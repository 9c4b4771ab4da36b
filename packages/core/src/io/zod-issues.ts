/** @file Issues of a schema in our own grammar: code, dotted path, what is wrong, what to do. */
import type * as z from 'zod';
import { didYouMean, type Issue, issue, quote, quoteName } from '../errors/index.ts';

/** Words for each key of a schema, by dotted path. */
export type SchemaWords = Readonly<
  Record<string, { readonly takes: string; readonly says: string; readonly example?: string; readonly hint?: string }>
>;

type SchemaIssue = z.core.$ZodIssue;

/** The issues of a failed parse of `value`, in order, without positions. */
export function issuesOfSchema(found: readonly SchemaIssue[], value: unknown, words: SchemaWords): readonly Issue[] {
  const issues = found.flatMap((each) => translate(each, [], value, words));
  return issues.filter(
    (each, index) => !issues.slice(0, index).some((other) => other.path === each.path && other.code === each.code),
  );
}

function translate(
  found: SchemaIssue,
  prefix: readonly PropertyKey[],
  root: unknown,
  words: SchemaWords,
): readonly Issue[] {
  const steps = [...prefix, ...found.path];
  const path = steps.map(String).join('.');
  const given = valueAt(root, steps);
  if (found.code === 'unrecognized_keys') return found.keys.map((key) => unknownKey(key, path, words));
  if (given === undefined || given === null) return [missing(path, given, words)];
  switch (found.code) {
    case 'invalid_union': {
      const names = found.errors.flat().find((each) => each.code === 'invalid_value');
      if (typeof given === 'string' && names) return [unknownName(path, given, names.values)];
      const branch = found.errors.find((issues) => !issues.some(isRootType));
      if (branch && isObject(given)) return branch.flatMap((each) => translate(each, steps, root, words));
      return [wrongValue(path, given, words)];
    }
    case 'invalid_value':
      return [typeof given === 'string' ? unknownName(path, given, found.values) : wrongValue(path, given, words)];
    default:
      return [wrongValue(path, given, words)];
  }
}

const isRootType = (found: SchemaIssue): boolean => found.code === 'invalid_type' && found.path.length === 0;

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

function valueAt(root: unknown, steps: readonly PropertyKey[]): unknown {
  let value = root;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[step];
  }
  return value;
}

/** Numbers are out of range, everything else has the wrong type: both say what the key takes. */
function wrongValue(path: string, given: unknown, words: SchemaWords): Issue {
  const { takes = 'a value', example, hint: wordsHint } = words[path] ?? {};
  const fraction = typeof given === 'number' && given % 1 !== 0 && takes.includes('whole number');
  const outOfRange = typeof given === 'number' && takes.includes('number') && (!fraction || !Number.isFinite(given));
  const code = outOfRange ? 'VALUE_OUT_OF_RANGE' : 'VALUE_WRONG_TYPE';
  const hint = wordsHint ?? (example === undefined ? `Give ${takes}.` : `Write ${path}: ${example}.`);
  return issue(code, path, `${quote(given)} is not ${takes}.`, hint, { value: quote(given) });
}

function missing(path: string, given: unknown, words: SchemaWords): Issue {
  const key = path.split('.').at(-1) ?? path;
  const example = words[path]?.example;
  const hint = example === undefined ? `Give ${words[path]?.takes ?? 'a value'}.` : `Add ${key}: ${example}`;
  const message = given === null ? `${key} is given without a value.` : `${key} is not given.`;
  return issue('KEY_MISSING', path, message, hint.endsWith('.') ? hint : `${hint}.`);
}

function unknownKey(key: string, path: string, words: SchemaWords): Issue {
  const start = path === '' ? '' : `${path}.`;
  const known = Object.keys(words)
    .filter((each) => each !== '' && each.startsWith(start) && !each.slice(start.length).includes('.'))
    .map((each) => each.slice(start.length));
  const near = didYouMean(key, known);
  const hint = near ? `Did you mean ${near}?` : `Use some of ${known.join(', ')}.`;
  const of = path === '' ? 'a job' : path;
  return issue('KEY_UNKNOWN', `${start}${key}`, `${quoteName(key)} is not a key of ${of}.`, hint);
}

function unknownName(path: string, given: string, values: readonly unknown[]): Issue {
  const names = values.map(String);
  const longer = names.filter((each) => each.startsWith(`${given}-`));
  const near = longer.length > 0 ? longer.join(' or ') : didYouMean(given, names);
  const hint = near ? `Did you mean ${near}?` : `Use one of ${names.join(', ')}.`;
  return issue('VALUE_UNKNOWN', path, `${quote(given)} is not a known name.`, hint, { value: given });
}
