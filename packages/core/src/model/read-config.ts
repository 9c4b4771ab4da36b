/** @file From a parsed Hugging Face `config.json` to a model. Keys without effect on the layers are left alone; what
 * would change the numbers and is not modelled is refused by name. */
import { type Code, didYouMean, type Issue, issue, quote, quoteName, warning } from '../errors/index.ts';
import { type Family, families, missingParts } from './architectures.ts';
import { type DimensionKey, dimensionRules, type ModelDimensions, modelOf } from './dimensions.ts';
import { type Fields, fieldsOf, isMapping, joinPath, type Mapping, wrongType } from './fields.ts';
import { fullAttentionNote, type ModelResult } from './read-dimensions.ts';
import type { ActivationKind } from './types.ts';

export interface ConfigOptions {
  /** Name of the model when the file does not state one. */
  readonly name: string;
  /** Where the configuration stands in the input; absent: it is the whole file. */
  readonly path?: string;
}

/** The model of a `config.json` that was parsed. All that is wrong with it is reported at once. */
export function modelFromConfig(config: unknown, options: ConfigOptions): ModelResult {
  const path = options.path ?? '';
  if (!isMapping(config)) return { issues: [wrongType(path, config, 'a mapping, as config.json is')] };
  const fields = fieldsOf(config, path);
  const { family, issues: refusals } = familyOf(fields);
  if (!family) return { issues: [...fields.issues, ...refusals] };
  const issues = [...refusals, ...refusedKeys(family, config, path)];
  const read = readDimensions(family, fields, config);
  issues.push(...read.issues, ...fields.issues);
  if (issues.length > 0) return { issues };
  const keyOf = (key: DimensionKey): string =>
    presentKey(family.keys[key] ?? [], config) ?? family.keys[key]?.[0] ?? key;
  const result = modelOf(read.dimensions, nameOf(config) ?? options.name, (key) => joinPath(path, keyOf(key)));
  const notes = [...assumed(family, fields, config), ...ignored(fields), ...windowNote(read.dimensions, fields, keyOf)];
  return { ...result, issues: [...result.issues, ...notes] };
}

/** `MixtralForCausalLM`, `mixtral` and `Mixtral` are all `mixtral`. */
const stemOf = (name: string): string =>
  name
    .replace(/(For[A-Z]\w*|LMHeadModel|DoubleHeadsModel|Model)$/, '')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');

function familyOf(fields: Fields): { readonly family?: Family; readonly issues: readonly Issue[] } {
  const listed = fields.raw(['architectures']);
  const architecture = Array.isArray(listed?.value) ? listed.value[0] : listed?.value;
  const type = fields.text(['model_type'], { what: 'the type of the model' });
  if (architecture !== undefined && typeof architecture !== 'string') {
    return { issues: [wrongType(fields.at('architectures'), architecture, 'the name of a class')] };
  }
  if (architecture === undefined && type === undefined) {
    if (fields.issues.length > 0) return { issues: [] };
    const message = 'neither model_type nor architectures says what the model is.';
    return {
      issues: [issue('KEY_MISSING', fields.at('model_type'), message, 'Add it, for example model_type: llama.')],
    };
  }
  const name = architecture ?? type ?? '';
  const place = fields.at(architecture === undefined ? 'model_type' : 'architectures');
  const stem = stemOf(name);
  const family = Object.hasOwn(families, stem) ? families[stem] : undefined;
  if (!family) return { issues: [refusal(name, stem, place)] };
  if (architecture !== undefined && !/(ForCausalLM|LMHeadModel)$/.test(architecture)) {
    const message = `${quoteName(architecture)} is not a causal language model.`;
    return {
      issues: [issue('MODEL_NOT_SUPPORTED', place, message, 'Use the configuration of the ForCausalLM class.')],
    };
  }
  if (type !== undefined && stemOf(type) !== stem) {
    const message = `${quoteName(name)} is not a class of model_type ${quoteName(type)}.`;
    const hint = 'Correct one of the two.';
    return { issues: [issue('MODEL_CONTRADICTS', fields.at('model_type'), message, hint)] };
  }
  return { family, issues: [] };
}

function refusal(name: string, stem: string, path: string): Issue {
  const missing = Object.hasOwn(missingParts, stem) ? missingParts[stem] : undefined;
  const supported = Object.keys(families);
  if (missing !== undefined) {
    const message = `${quoteName(name)} is not modelled yet: it has ${missing}.`;
    const hint = 'Give the dimensions of the nearest llama, mixtral or gpt2 in its place.';
    return issue('MODEL_NOT_SUPPORTED', path, message, hint, { architecture: name, missing });
  }
  const near = didYouMean(stem, supported);
  const hint = near ? `Did you mean ${near}?` : `Use one of ${supported.join(', ')}, or give dimensions.`;
  return issue('MODEL_NOT_SUPPORTED', path, `${quoteName(name)} is not an architecture that is known here.`, hint);
}

function refusedKeys(family: Family, config: Mapping, path: string): readonly Issue[] {
  return family.refuses.flatMap(({ key, unless, means }) => {
    const value = Object.hasOwn(config, key) ? config[key] : undefined;
    if (value === undefined || value === null || unless.includes(value)) return [];
    const message = `${quote(value)} asks for ${means}, which this architecture is not modelled with.`;
    return [issue('MODEL_NOT_SUPPORTED', joinPath(path, key), message, 'Give the dimensions of the nearest model.')];
  });
}

const activationNames: Readonly<Record<string, ActivationKind>> = {
  silu: 'silu',
  swish: 'silu',
  gelu: 'gelu',
  gelu_new: 'gelu-tanh',
  gelu_pytorch_tanh: 'gelu-tanh',
  gelu_fast: 'gelu-tanh',
  relu: 'relu',
};

interface DimensionsResult {
  readonly dimensions: ModelDimensions;
  readonly issues: readonly Issue[];
}

function readDimensions(family: Family, fields: Fields, config: Mapping): DimensionsResult {
  const issues: Issue[] = [];
  const read: Record<string, unknown> = {};
  for (const [name, keys] of Object.entries(family.keys)) {
    const key = name as DimensionKey;
    const { type, ...rule } = dimensionRules[key];
    if (type === 'name') {
      const activation = readActivation(fields, keys);
      issues.push(...activation.issues);
      read[key] = activation.value;
    } else {
      read[key] = fields[type](keys, { ...rule, required: family.required.includes(key) });
    }
  }
  if (read['theta'] === undefined) read['theta'] = thetaOf(fields);
  const given = Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
  const defaults = Object.entries(family.defaults).filter(([key]) => !statedNull(family, key as DimensionKey, config));
  const dimensions = { kind: family.kind, ...Object.fromEntries(defaults), ...given } as ModelDimensions;
  return { dimensions, issues };
}

/** `null` is a value for these: no window, and as many key and value heads as there are heads. */
const nullable: readonly DimensionKey[] = ['slidingWindow', 'kvHeads'];

const statedNull = (family: Family, dimension: DimensionKey, config: Mapping): boolean =>
  nullable.includes(dimension) &&
  (family.keys[dimension] ?? []).some((key) => Object.hasOwn(config, key) && config[key] === null);

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

const presentKey = (keys: readonly string[], config: Mapping): string | undefined =>
  keys.find((key) => Object.hasOwn(config, key) && config[key] !== null && config[key] !== undefined);

function nameOf(config: Mapping): string | undefined {
  const given = config['_name_or_path'];
  const last = typeof given === 'string' ? given.split('/').findLast((part) => part !== '') : undefined;
  return last !== undefined && /^[\w.-]{1,80}$/.test(last) && /\w/.test(last) ? last : undefined;
}

const note = (code: Code, path: string, message: string, hint: string): Issue => ({
  ...warning(code, path, message, hint),
  severity: 'note',
});

function assumed(family: Family, fields: Fields, config: Mapping): readonly Issue[] {
  return family.noted.flatMap((dimension) => {
    const keys = family.keys[dimension] ?? [];
    const value = family.defaults[dimension];
    if (presentKey(keys, config) !== undefined || value === undefined) return [];
    if (statedNull(family, dimension, config)) return [];
    const message = `the key is absent and ${String(value)}, the default of the architecture, is assumed.`;
    return [
      note('MODEL_DEFAULT_ASSUMED', fields.at(keys[0] ?? dimension), message, 'Add the key if the model differs.'),
    ];
  });
}

function ignored(fields: Fields): readonly Issue[] {
  const found: Issue[] = [];
  if (fields.raw(['quantization_config'])) {
    const message = 'the stored weights are quantised, and training is planned in the precision of the job.';
    found.push(note('CONFIG_KEY_IGNORED', fields.at('quantization_config'), message, 'Nothing to do.'));
  }
  if (fields.raw(['rope_scaling'])) {
    const message = 'rotary frequencies are scaled, which changes no shape and no price.';
    found.push(note('CONFIG_KEY_IGNORED', fields.at('rope_scaling'), message, 'Nothing to do.'));
  }
  return found;
}

function windowNote(
  { slidingWindow }: ModelDimensions,
  fields: Fields,
  keyOf: (key: DimensionKey) => string,
): readonly Issue[] {
  return slidingWindow === undefined ? [] : [fullAttentionNote(slidingWindow, fields.at(keyOf('slidingWindow')))];
}
