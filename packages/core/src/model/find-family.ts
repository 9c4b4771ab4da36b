/** @file Which architecture a configuration is of; one that is not modelled is refused by name. */

import { type Fields, isMapping, joinPath, type Mapping, wrongType } from '../errors/fields/index.ts';
import { didYouMean, type Issue, issue, quote, quoteName } from '../errors/index.ts';
import { type Family, families, missingParts } from './families/index.ts';

/** `MixtralForCausalLM`, `mixtral` and `Mixtral` are all `mixtral`. */
const stemOf = (name: string): string =>
  name
    .replace(/(For[A-Z]\w*|LMHeadModel|DoubleHeadsModel|Model)$/, '')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');

export interface FoundFamily {
  readonly family?: Family;
  readonly issues: readonly Issue[];
}

/** The family that `architectures` or `model_type` names. */
export function findFamily(fields: Fields): FoundFamily {
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
  const nested = architecture?.endsWith('ForConditionalGeneration') ?? fields.raw(['text_config']) !== undefined;
  const family = familyNamed(stemOf(name), nested);
  if (!family) return { issues: [refusal(name, stemOf(name), place)] };
  return checkClass(family, architecture, type, fields);
}

function checkClass(
  family: Family,
  architecture: string | undefined,
  type: string | undefined,
  fields: Fields,
): FoundFamily {
  if (architecture === undefined) return { family, issues: [] };
  const endings = ['ForCausalLM', 'LMHeadModel', ...(family.classEnding ? [family.classEnding] : [])];
  if (!endings.some((ending) => architecture.endsWith(ending))) {
    const message = `${quoteName(architecture)} is not a causal language model.`;
    const hint = 'Use the configuration of the ForCausalLM class.';
    return { issues: [issue('MODEL_NOT_SUPPORTED', fields.at('architectures'), message, hint)] };
  }
  if (type === undefined || familyOfType(type, family)) return { family, issues: [] };
  const message = `${quoteName(architecture)} is not a class of model_type ${quoteName(type)}.`;
  return { issues: [issue('MODEL_CONTRADICTS', fields.at('model_type'), message, 'Correct one of the two.')] };
}

const familyOfType = (type: string, family: Family): boolean =>
  familyNamed(stemOf(type), false) === family || family.types?.includes(stemOf(type)) === true;

function familyNamed(stem: string, nested: boolean): Family | undefined {
  const own = (key: string): Family | undefined => (Object.hasOwn(families, key) ? families[key] : undefined);
  const typed = Object.values(families).find((family) => family.types?.includes(stem) && family.nested === undefined);
  return (nested ? own(`${stem}conditional`) : undefined) ?? own(stem) ?? typed;
}

function refusal(name: string, stem: string, path: string): Issue {
  const missing = Object.hasOwn(missingParts, stem) ? missingParts[stem] : undefined;
  const supported = Object.keys(families).filter((key) => !key.endsWith('conditional'));
  if (missing !== undefined) {
    const message = `${quoteName(name)} is not modelled yet: it has ${missing}.`;
    const hint = 'Give the dimensions of the nearest llama, mixtral or gpt2 in its place.';
    return issue('MODEL_NOT_SUPPORTED', path, message, hint, { architecture: name, missing });
  }
  const near = didYouMean(stem, supported);
  const hint = near ? `Did you mean ${near}?` : `Use one of ${supported.join(', ')}, or give dimensions.`;
  return issue('MODEL_NOT_SUPPORTED', path, `${quoteName(name)} is not an architecture that is known here.`, hint);
}

const layerTypes: readonly unknown[] = ['full_attention', 'sliding_attention', 'chunked_attention'];

/** Keys of a known architecture that ask for what it is not modelled with. */
export function refusedKeys(family: Family, config: Mapping, path: string): readonly Issue[] {
  const listed = config['layer_types'];
  const stranger = Array.isArray(listed) ? listed.find((type) => !layerTypes.includes(type)) : undefined;
  const layers =
    stranger === undefined ? [] : [refusedValue(stranger, `layers of another kind`, joinPath(path, 'layer_types'))];
  const keys = family.refuses.flatMap(({ key, unless, means }) => {
    const value = Object.hasOwn(config, key) ? config[key] : undefined;
    if (value === undefined || value === null || unless.includes(value)) return [];
    return [refusedValue(value, means, joinPath(path, key))];
  });
  return [...layers, ...keys];
}

function refusedValue(value: unknown, means: string, path: string): Issue {
  const message = `${quote(value)} asks for ${means}, which this architecture is not modelled with.`;
  return issue('MODEL_NOT_SUPPORTED', path, message, 'Give the dimensions of the nearest model.');
}

/** The mapping that holds the language model, and where it stands. What the outer mapping says of the head counts. */
export function languagePart(
  family: Family,
  config: Mapping,
  path: string,
): { readonly part?: Mapping; readonly path: string; readonly issues: readonly Issue[] } {
  if (!family.nested) return { part: config, path, issues: [] };
  const at = joinPath(path, 'text_config');
  const text = config['text_config'];
  if (isMapping(text)) {
    const { tie_word_embeddings: tied } = config;
    const part =
      tied === undefined || text['tie_word_embeddings'] !== undefined ? text : { ...text, tie_word_embeddings: tied };
    return { part, path: at, issues: [] };
  }
  if (text !== undefined && text !== null) return { path: at, issues: [wrongType(at, text, 'a mapping')] };
  const message = 'the language model of this architecture stands there, and the key is not given.';
  return { path: at, issues: [issue('KEY_MISSING', at, message, 'Use the complete config.json.')] };
}
