/** @file The shape that a configuration of a known family states, with the family's defaults. */

import { type Fields, isMapping, type Mapping, wrongType } from '../errors/fields/index.ts';
import { didYouMean, type Issue, issue, quote } from '../errors/index.ts';
import { dimensionRules } from './dimensions.ts';
import type { Family } from './families/index.ts';
import { type ModelShape, type ShapeKey, shapeRules } from './shape.ts';
import type { ActivationKind } from './types.ts';

const activationNames: Readonly<Record<string, ActivationKind>> = {
  silu: 'silu',
  swish: 'silu',
  gelu: 'gelu',
  gelu_python: 'gelu',
  gelu_new: 'gelu-tanh',
  gelu_pytorch_tanh: 'gelu-tanh',
  gelu_fast: 'gelu-tanh',
  relu: 'relu',
};

const rules = { ...dimensionRules, ...shapeRules };
const isRuled = (key: string): key is keyof typeof rules => Object.hasOwn(rules, key);

export interface ShapeResult {
  readonly shape: ModelShape;
  readonly issues: readonly Issue[];
}

/** Reads the keys of `family` from `fields`, which stand for `config`. */
export function shapeOfConfig(family: Family, fields: Fields, config: Mapping): ShapeResult {
  const issues: Issue[] = [];
  const read: Record<string, unknown> = {};
  for (const [key, names] of Object.entries(family.keys)) {
    if (!isRuled(key)) continue;
    const { type, ...rule } = rules[key];
    if (type === 'name') {
      const activation = readActivation(fields, names);
      issues.push(...activation.issues);
      read[key] = activation.value;
    } else {
      read[key] = fields[type](names, { ...rule, required: family.required.includes(key) });
    }
  }
  if (read['theta'] === undefined) read['theta'] = thetaOf(fields);
  const given = Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
  const defaults = Object.entries(family.defaults).filter(([key]) => !statedNull(family, key as ShapeKey, config));
  const shape = { kind: family.kind, ...Object.fromEntries(defaults), ...given } as ModelShape;
  return { shape: { ...shape, ...family.adjust?.(shape, config) }, issues };
}

/** `null` is a value for these: no window, and as many key and value heads as there are heads. */
const nullable: readonly ShapeKey[] = ['slidingWindow', 'kvHeads'];

/** True where the file says `null` for a dimension that has a default. */
export const statedNull = (family: Family, dimension: ShapeKey, config: Mapping): boolean =>
  nullable.includes(dimension) &&
  (family.keys[dimension] ?? []).some((key) => Object.hasOwn(config, key) && config[key] === null);

/** The key of the file that states a dimension, of the several that may. */
export const presentKey = (keys: readonly string[], config: Mapping): string | undefined =>
  keys.find((key) => Object.hasOwn(config, key) && config[key] !== null && config[key] !== undefined);

/** Newer files keep the base of the rotary frequencies in a mapping of its own. */
function thetaOf(fields: Fields): number | undefined {
  const nested = fields.raw(['rope_parameters'])?.value;
  const theta = isMapping(nested) ? nested['rope_theta'] : undefined;
  return typeof theta === 'number' && theta >= 1 && Number.isFinite(theta) ? theta : undefined;
}

function readActivation(fields: Fields, keys: readonly string[]): { value?: ActivationKind; issues: readonly Issue[] } {
  const found = fields.raw(keys);
  if (!found) return { issues: [] };
  const { key, value } = found;
  if (typeof value !== 'string') return { issues: [wrongType(fields.at(key), value, 'the name of a function')] };
  const known = Object.hasOwn(activationNames, value) ? activationNames[value] : undefined;
  if (known) return { value: known, issues: [] };
  const names = Object.keys(activationNames);
  const near = didYouMean(value, names);
  const hint = near ? `Did you mean ${near}?` : `Use one of ${names.join(', ')}.`;
  const message = `${quote(value)} is not an activation function that is modelled.`;
  return { issues: [issue('VALUE_UNKNOWN', fields.at(key), message, hint)] };
}
