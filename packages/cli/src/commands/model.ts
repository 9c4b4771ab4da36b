/** @file `meshwright model`: layers, tensors, parameters and FLOPs of a model. */
import { type Command, Option } from '@commander-js/extra-typings';
import { InputError, type Issue, issue, throwOnErrors } from '@meshwright/core/errors';
import { readModelConfig } from '@meshwright/core/io';
import {
  checkCompiles,
  countParameters,
  flopsPerToken,
  type HfTensor,
  hfTensors,
  type ModelResult,
  type ModelSpec,
  mfuConvention,
  modelFromPreset,
  presetNames,
  presets,
} from '@meshwright/core/model';
import { formatCount } from '@meshwright/core/units';
import type { Host, Session } from '../host.ts';
import { readNamed } from '../input/files.ts';
import { printIssues } from '../output/issues.ts';
import { count, percent, significant, whole } from '../output/numbers.ts';
import { type Format, formatOf, formatOption, jsonOption, printReport, type Report } from '../output/report.ts';
import { numbers, type Table, tableOf, words } from '../output/table.ts';
import { blockRows } from './model-blocks.ts';

/** Length at which FLOPs are shown when nobody says: long contexts would hide the model behind its attention. */
const USUAL_LENGTH = 4096;

/** Adds `model [NAME]`. */
export function registerModel(command: Command, { host }: Session): void {
  command
    .command('model')
    .description('Layers, tensors, parameters and FLOPs of a model; without a name, the presets.')
    .argument('[NAME]', 'a preset, or the path of a Hugging Face config.json')
    .option('--tensors', 'list the tensors under their Hugging Face names')
    .addOption(new Option('--length <TOKENS>', 'sequence length of the FLOPs').argParser(lengthOf))
    .addOption(formatOption())
    .addOption(jsonOption())
    .action((name, options) => {
      const format = formatOf(options);
      if (name === undefined) {
        for (const option of ['tensors', 'length'] as const) {
          if (options[option] === undefined) continue;
          throw new InputError([
            issue('KEY_MISSING', 'NAME', `--${option} is of one model.`, 'Name a preset or a file.'),
          ]);
        }
        return printReport(presetReport(), format, host);
      }
      const { model, issues } = readModel(name, host);
      if (!model) throw new InputError(issues);
      throwOnErrors(issues);
      if (format !== 'json') printIssues(issues, host);
      const length = options.length ?? Math.min(USUAL_LENGTH, model.maxLength);
      printReport(modelReport(model, issues, length, options.tensors === true, format), format, host);
    });
}

function readModel(name: string, host: Host): ModelResult {
  const isPath = /[\\/]|\.json$/.test(name) || name === '-';
  if (isPath && !(presetNames as readonly string[]).includes(name)) return readModelConfig(readNamed(name, host), name);
  return modelFromPreset(name, 'model');
}

function lengthOf(text: string): number {
  const value = Number(text.replaceAll(',', ''));
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new InputError([
    issue('VALUE_OUT_OF_RANGE', '--length', `${text} is not a positive whole number.`, 'Use 4096.'),
  ]);
}

function modelReport(
  model: ModelSpec,
  issues: readonly Issue[],
  length: number,
  withTensors: boolean,
  format: Format,
): Report {
  const { total, active, embedding, head, perLayer, mtp } = countParameters(model);
  const cost = flopsPerToken(model, length);
  const works = active === total ? '' : `, ${formatCount(active)} work on a token`;
  const layers = count(model.layers.length, 'layer');
  return {
    answer: `${model.name}: ${formatCount(total)} parameters${works}, ${layers}, ${significant(cost / 1e9)} GFLOP per token at length ${whole(length)}`,
    tables: withTensors ? [tensorTable(hfTensors(model), format)] : [blockTable(model, total)],
    reasons: [
      `${whole(total)} parameters. FLOPs count ${mfuConvention}.`,
      ...(mtp > 0 ? [`Beside these: ${whole(mtp)} parameters of modules that predict further tokens.`] : []),
      ...compiles(model),
    ],
    json: () => ({
      schema: 'meshwright.model/1',
      name: model.name,
      kind: model.kind,
      parameters: { total, active, embedding, head, mtp, perLayer },
      ...(withTensors && { tensors: hfTensors(model) }),
      flopsPerToken: cost,
      flopsLength: length,
      flopsConvention: mfuConvention,
      issues,
    }),
  };
}

/** Says when a model can be counted and not planned. */
const compiles = (model: ModelSpec): readonly string[] =>
  checkCompiles(model)
    .filter(({ severity }) => severity === 'error')
    .map(({ message }) => `Counted and not planned: ${message}`);

const blockTable = (model: ModelSpec, total: number): Table =>
  tableOf(blockRows(model), [
    words('block', (row) => row.block),
    words('attention', (row) => row.attention),
    words('feed-forward', (row) => row.feedForward),
    numbers('parameters each', (row) => whole(row.each)),
    numbers('blocks', (row) => whole(row.blocks)),
    numbers('share %', (row) => percent((row.each * row.blocks) / total)),
  ]);

/** Tensors that differ only in their layer or expert stand in one line, except in a spreadsheet. */
function tensorTable(tensors: readonly HfTensor[], format: Format): Table {
  const groups = new Map<string, { readonly name: string; readonly tensor: HfTensor; blocks: number }>();
  for (const tensor of tensors) {
    const name = format === 'csv' ? tensor.name : tensor.name.replace(/\.\d+(?=\.)/g, '.*');
    const key = `${name} ${tensor.shape.join('x')}`;
    const group = groups.get(key) ?? { name, tensor, blocks: 0 };
    group.blocks += 1;
    groups.set(key, group);
  }
  return tableOf(
    [...groups.values()],
    [
      words('tensor', (row) => row.name),
      numbers('shape', (row) => row.tensor.shape.join(' x ')),
      numbers('parameters each', (row) => whole(row.tensor.shape.reduce((product, size) => product * size, 1))),
      numbers('tensors', (row) => whole(row.blocks)),
    ],
  );
}

function presetReport(): Report {
  const rows = presetNames.flatMap((name) => {
    const { model } = modelFromPreset(name, 'model');
    return model ? [{ name, model, counts: countParameters(model), ...presets[name] }] : [];
  });
  return {
    answer: `${rows.length} models are known by name; any Hugging Face config.json of these kinds can be named as well`,
    tables: [
      tableOf(rows, [
        words('model', (row) => row.name),
        words('kind', (row) => row.model.kind),
        numbers('layers', (row) => whole(row.model.layers.length)),
        numbers('hidden', (row) => whole(row.model.hidden)),
        numbers('parameters', (row) => whole(row.counts.total)),
        numbers('on a token', (row) => whole(row.counts.active)),
      ]),
    ],
    reasons: [],
    json: () => ({
      schema: 'meshwright.models/1',
      models: rows.map(({ name, model, counts, source, asOf }) => ({
        name,
        kind: model.kind,
        layers: model.layers.length,
        parameters: { total: counts.total, active: counts.active },
        source,
        asOf,
      })),
    }),
  };
}
