import { type Fields, fieldsOf, isMapping, type Mapping, wrongType } from '../errors/fields/index.ts';
import { didYouMean, type Issue, issue, quote, quoteName } from '../errors/index.ts';
import { modelOf } from './check.ts';
import { type DimensionKey, dimensionRules, type ModelDimensions } from './dimensions.ts';
import type { ActivationKind, ModelSpec } from './types.ts';

/** A model that was read, and all that is wrong or worth knowing; `model` is present when no issue is an error. */
export interface ModelResult {
  readonly model?: ModelSpec;
  readonly issues: readonly Issue[];
}

/** What `kind: toy` stands for when nothing else is given: small enough to follow every number by hand. */
export const toyDimensions: ModelDimensions = {
  kind: 'gpt2',
  layers: 2,
  hidden: 8,
  heads: 2,
  ffn: 32,
  vocab: 16,
  positions: 4,
  tied: true,
};

const required: readonly DimensionKey[] = ['layers', 'hidden', 'heads', 'vocab'];
const keys = Object.keys(dimensionRules) as DimensionKey[];

/** The model of a mapping of dimensions as a job file gives it; paths of issues begin with `path`. */
export function modelFromDimensions(value: unknown, path: string): ModelResult {
  if (!isMapping(value)) return { issues: [wrongType(path, value, 'a mapping of dimensions')] };
  const fields = fieldsOf(value, path);
  const name = fields.text(['name'], { what: 'the name of the model' });
  const kind = readName(fields, 'kind', true);
  const toy = kind.name === 'toy';
  const read: Record<string, unknown> = {};
  const issues = [...unknownKeys(value, path), ...kind.issues];
  for (const key of keys) {
    if (key === 'kind') continue;
    const { type, ...rule } = dimensionRules[key];
    const needed = { ...rule, required: required.includes(key) && !toy };
    if (key === 'activation' || type === 'name') {
      const named = readName(fields, 'activation', false);
      issues.push(...named.issues);
      read[key] = named.name;
    } else {
      read[key] = fields[type]([key], needed);
    }
  }
  const given = Object.fromEntries(Object.entries(read).filter(([, each]) => each !== undefined));
  issues.push(...fields.issues);
  if (issues.length > 0) return { issues };
  const base = toy ? toyBase(given) : { kind: kind.name as ModelDimensions['kind'] };
  const dimensions = { ...base, ...given } as ModelDimensions;
  return modelOf(dimensions, name ?? nameOf(dimensions, toy), fields.at);
}

/** `toy`, or `llama-32x4096` after layers and width. */
const nameOf = ({ kind, layers, hidden }: ModelDimensions, toy: boolean): string =>
  toy ? 'toy' : `${kind}-${layers}x${hidden}`;

/** A toy that is given another width or number of heads keeps the rule of four for its feed-forward. */
function toyBase(given: Readonly<Record<string, unknown>>): ModelDimensions {
  const { ffn, ...rest } = toyDimensions;
  return given['hidden'] === undefined && ffn !== undefined ? { ...rest, ffn } : rest;
}

function unknownKeys(value: Mapping, path: string): readonly Issue[] {
  const known = ['name', ...keys];
  return Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const near = didYouMean(key, known);
      const hint = near ? `Did you mean ${near}?` : `Use some of ${known.join(', ')}.`;
      const at = path === '' ? key : `${path}.${key}`;
      return issue('KEY_UNKNOWN', at, `${quoteName(key)} is not a dimension of a model.`, hint);
    });
}

interface NameResult {
  readonly name?: ActivationKind | ModelDimensions['kind'] | 'toy';
  readonly issues: readonly Issue[];
}

function readName(fields: Fields, key: 'kind' | 'activation', needed: boolean): NameResult {
  const { what, names = [] } = dimensionRules[key];
  const found = fields.raw([key]);
  if (!found) {
    if (!needed) return { issues: [] };
    const message = `${what} is not given.`;
    return { issues: [issue('KEY_MISSING', fields.at(key), message, `Add kind: ${names.join(', or ')}.`)] };
  }
  const { value } = found;
  if (typeof value !== 'string') return { issues: [wrongType(fields.at(key), value, `one of ${names.join(', ')}`)] };
  if (names.includes(value)) return { name: value as NonNullable<NameResult['name']>, issues: [] };
  const near = didYouMean(value, names);
  const hint = near ? `Did you mean ${near}?` : `Use one of ${names.join(', ')}.`;
  return { issues: [issue('VALUE_UNKNOWN', fields.at(key), `${quote(value)} is not a name for ${what}.`, hint)] };
}
