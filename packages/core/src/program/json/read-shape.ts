/** @file Holds a value of unknown origin against a shape: a clean copy with keys in the order of the shape, or findings. */
import { isMapping } from '../../errors/fields/index.ts';
import { type Code, didYouMean, quote, quoteName } from '../../errors/index.ts';
import type { NameShape, NumberShape, ObjectShape, Shape, UnionShape } from './shape.ts';

/** Keys and indices from the root of a value to a place in it. */
export type Path = readonly (string | number)[];

/** What is wrong at one place of a value; becomes an issue once the place has a name. */
export interface Finding {
  readonly path: Path;
  readonly code: Code;
  readonly message: string;
  readonly hint?: string;
}

/** The copy is complete only when no finding was added. */
export function readShape(value: unknown, shape: Shape, path: Path, findings: Finding[]): unknown {
  const wrong = (expected: string): undefined => {
    findings.push({ path, code: 'VALUE_WRONG_TYPE', message: `${quote(value)} is not ${expected}.` });
    return undefined;
  };
  switch (shape.kind) {
    case 'text':
      return typeof value === 'string' && value !== '' ? value : wrong('a text');
    case 'truth':
      return typeof value === 'boolean' ? value : wrong('true or false');
    case 'scalar':
      return typeof value === 'string' || isFiniteNumber(value) ? value : wrong('a number or a text');
    case 'constant':
      return value === shape.value ? value : wrong(quote(shape.value));
    case 'number':
      return isFiniteNumber(value) ? readNumber(value, shape, path, findings) : wrong('a number');
    case 'name':
      return typeof value === 'string' ? readName(value, shape, path, findings) : wrong(`a ${shape.what}`);
    case 'list':
      if (!Array.isArray(value)) return wrong('a list');
      if (value.length < shape.atLeast) return wrong('a list that holds something; leave it out when it is empty');
      return Array.from(value, (each: unknown, index) => readShape(each, shape.of, [...path, index], findings));
    case 'record': {
      if (!isMapping(value)) return wrong('a mapping');
      const entries = Object.entries(value);
      if (entries.length === 0) return wrong('a mapping that holds something; leave it out when it is empty');
      return Object.fromEntries(
        entries.map(([key, each]) => [key, readShape(each, shape.of, [...path, key], findings)]),
      );
    }
    case 'object':
      return isMapping(value) ? readObject(value, shape, path, findings) : wrong('a mapping');
    case 'union':
      return isMapping(value) ? readUnion(value, shape, path, findings) : wrong('a mapping');
  }
}

const isFiniteNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

function readNumber(value: number, shape: NumberShape, path: Path, findings: Finding[]): number {
  const { integer, minimum, maximum, above } = shape;
  const low = above === true ? value <= minimum : value < minimum;
  if (low || value > maximum || (integer && !Number.isInteger(value))) {
    const from = above === true ? `above ${minimum}` : `from ${minimum}`;
    const to = maximum === Number.MAX_SAFE_INTEGER ? ' up' : maximum >= 1e300 ? '' : ` to ${maximum}`;
    const what = integer ? 'a whole number' : 'a number';
    findings.push({ path, code: 'VALUE_OUT_OF_RANGE', message: `${value} is not ${what} ${from}${to}.` });
  }
  return value;
}

function readName(value: string, shape: NameShape, path: Path, findings: Finding[]): string {
  if (!shape.values.includes(value)) {
    const message = `${quoteName(value)} is not a known ${shape.what}.`;
    findings.push({ path, code: 'VALUE_UNKNOWN', message, hint: suggest(value, shape.values) });
  }
  return value;
}

/** What to write instead of an unknown name. */
export function suggest(name: string, known: readonly string[]): string {
  const near = didYouMean(name, known);
  if (near !== undefined) return `Did you mean ${quoteName(near)}?`;
  if (known.length === 0) return 'There is none to choose from.';
  const shown = known.slice(0, 12).map(quoteName).join(', ');
  return known.length > 12 ? `The first known ones: ${shown}.` : `Use one of ${shown}.`;
}

function readObject(
  value: Readonly<Record<string, unknown>>,
  shape: ObjectShape,
  path: Path,
  findings: Finding[],
): Readonly<Record<string, unknown>> {
  const copy: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(shape.fields)) {
    if (!Object.hasOwn(value, key)) {
      if (!field.optional)
        findings.push({ path, code: 'KEY_MISSING', message: `${key} is missing.`, hint: field.about });
    } else {
      copy[key] = readShape(value[key], field.shape, [...path, key], findings);
    }
  }
  const known = Object.keys(shape.fields);
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    findings.push({
      path,
      code: 'KEY_UNKNOWN',
      message: `${quoteName(key)} is not a key of a ${shape.name}.`,
      hint: suggest(key, known),
    });
  }
  return copy;
}

function readUnion(
  value: Readonly<Record<string, unknown>>,
  shape: UnionShape,
  path: Path,
  findings: Finding[],
): Readonly<Record<string, unknown>> | undefined {
  const kind = Object.hasOwn(value, 'kind') ? value['kind'] : undefined;
  const variant = typeof kind === 'string' && Object.hasOwn(shape.variants, kind) ? shape.variants[kind] : undefined;
  if (variant) return readObject(value, variant, path, findings);
  const kinds = Object.keys(shape.variants);
  findings.push({
    path: [...path, 'kind'],
    code: 'VALUE_UNKNOWN',
    message: `${quote(kind)} is not a kind of ${shape.name}.`,
    hint: suggest(typeof kind === 'string' ? kind : '', kinds),
  });
  return undefined;
}
