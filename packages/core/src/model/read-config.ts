/** @file From a parsed Hugging Face `config.json` to a model. Keys without effect on the layers are left alone; what
 * would change the numbers and is not modelled is refused by name. */

import { type Fields, fieldsOf, isMapping, joinPath, type Mapping, wrongType } from '../errors/fields/index.ts';
import { type Code, type Issue, warning } from '../errors/index.ts';
import { modelOf } from './check.ts';
import { presentKey, shapeOfConfig, statedNull } from './config-shape.ts';
import type { Family } from './families/index.ts';
import { findFamily, languagePart, refusedKeys } from './find-family.ts';
import type { ModelResult } from './read-dimensions.ts';
import type { ShapeKey } from './shape.ts';

export interface ConfigOptions {
  /** Name of the model when the file does not state one. */
  readonly name: string;
  /** Where the configuration stands in the input; absent: it is the whole file. */
  readonly path?: string;
}

/** The model of a `config.json` that was parsed. All that is wrong with it is reported at once. */
export function modelFromConfig(config: unknown, options: ConfigOptions): ModelResult {
  const outer = options.path ?? '';
  if (!isMapping(config)) return { issues: [wrongType(outer, config, 'a mapping, as config.json is')] };
  const top = fieldsOf(config, outer);
  const { family, issues: refusals } = findFamily(top);
  if (!family) return { issues: [...top.issues, ...refusals] };
  const { part, path, issues: missing } = languagePart(family, config, outer);
  if (!part) return { issues: [...top.issues, ...missing] };
  const fields = fieldsOf(part, path);
  const issues = [...refusals, ...refusedKeys(family, part, path)];
  const read = shapeOfConfig(family, fields, part);
  issues.push(...read.issues, ...top.issues, ...fields.issues);
  if (issues.length > 0) return { issues };
  const keyOf = (key: ShapeKey): string => presentKey(family.keys[key] ?? [], part) ?? family.keys[key]?.[0] ?? key;
  const result = modelOf(read.shape, nameOf(config) ?? options.name, (key) => joinPath(path, keyOf(key)));
  const notes = [...assumed(family, fields, part), ...leftOut(family, outer), ...ignored(top, fields)];
  return { ...result, issues: [...result.issues, ...notes] };
}

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

function leftOut({ leavesOut }: Family, path: string): readonly Issue[] {
  if (leavesOut === undefined) return [];
  const message = `${leavesOut} are not modelled and not counted.`;
  const hint = 'Nothing to do where only the language model is trained.';
  return [note('MODEL_PART_LEFT_OUT', joinPath(path, 'architectures'), message, hint)];
}

function ignored(top: Fields, fields: Fields): readonly Issue[] {
  const found: Issue[] = [];
  const at = [top, fields].find((each) => each.raw(['quantization_config']));
  if (at) {
    const message = 'the stored weights are quantised, and training is planned in the precision of the job.';
    found.push(note('CONFIG_KEY_IGNORED', at.at('quantization_config'), message, 'Nothing to do.'));
  }
  if (fields.raw(['rope_scaling'])) {
    const message = 'rotary frequencies are scaled, which changes no shape and no price.';
    found.push(note('CONFIG_KEY_IGNORED', fields.at('rope_scaling'), message, 'Nothing to do.'));
  }
  return found;
}
