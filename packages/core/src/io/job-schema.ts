/** @file The shape of a job file: one schema checks files and, with the dimensions and layout keys spelled out, is
 * published as JSON Schema for editors. Meaning (does the batch divide, is the model known) is checked elsewhere. */
import * as z from 'zod';
import type { Issue } from '../errors/index.ts';
import { type DispatchName, dispatchNames, type FrameworkName, frameworkNames } from '../frameworks/index.ts';
import { dimensionRules, presetNames } from '../model/index.ts';
import { readableKeys } from './layout-keys.ts';
import { sizeHelp, sizePattern } from './size.ts';
import { issuesOfSchema, type SchemaWords } from './zod-issues.ts';

/** Precisions of the contract; those that are not priced yet are refused by name. */
export const precisionNames = ['fp32', 'bf16', 'fp16', 'fp8-delayed', 'fp8-current', 'mxfp8', 'nvfp4'] as const;
export const workloadNames = ['pretrain', 'sft', 'packed'] as const;

type Size = number | string;

/** A job file whose shape is right; the values of model, cluster and layout are still as written. */
export interface JobFile {
  readonly name?: string;
  readonly model: string | Readonly<Record<string, unknown>>;
  readonly cluster: string | Readonly<Record<string, unknown>>;
  readonly batch: { readonly sequences?: Size; readonly tokens?: Size; readonly length: Size; readonly max?: Size };
  readonly precision?: (typeof precisionNames)[number];
  readonly optimizer?: 'adamw' | 'sgd';
  readonly workload?: (typeof workloadNames)[number] | { readonly lora: unknown };
  readonly framework?: FrameworkName;
  readonly kernels?: { readonly attention?: 'flash' | 'unfused'; readonly dropout?: number };
  readonly routing?: { readonly imbalance?: number; readonly dispatch?: DispatchName };
  readonly layout?: string | Readonly<Record<string, unknown>>;
}

const size = z.union([
  z
    .int()
    .min(1)
    .max(2 ** 50),
  z.string().regex(sizePattern),
]);
/** No control characters: names go to terminals and into drawings. */
const printable = /^\P{Cc}*$/u;
const mapping = z.looseObject({});
const namedOrMapped = z.union([z.string().min(1), mapping]);

const shape = {
  name: z.string().min(1).max(120).regex(printable, 'has characters that do not print').optional(),
  model: namedOrMapped,
  cluster: namedOrMapped,
  batch: z.strictObject({
    sequences: size.optional(),
    tokens: size.optional(),
    length: size,
    max: size.optional(),
  }),
  precision: z.enum(precisionNames).optional(),
  optimizer: z.enum(['adamw', 'sgd']).optional(),
  workload: z.union([z.enum(workloadNames), z.strictObject({ lora: mapping })]).optional(),
  framework: z.enum(frameworkNames).optional(),
  kernels: z
    .strictObject({
      attention: z.enum(['flash', 'unfused']).optional(),
      dropout: z.number().min(0).max(0.999).optional(),
    })
    .optional(),
  routing: z
    .strictObject({
      imbalance: z.number().min(1).optional(),
      dispatch: z.enum(dispatchNames).optional(),
    })
    .optional(),
  layout: namedOrMapped.optional(),
};
const fileSchema = z.strictObject(shape);

const sizes = { takes: 'a positive whole number', hint: sizeHelp } as const;

/** What keys take, in words, for messages and editors; examples are for keys that are missing. */
const words: SchemaWords = {
  '': {
    takes: 'a mapping',
    says: 'A job.',
    hint: 'Write the keys of a job: model, cluster, batch and more.',
  },
  name: { takes: 'text', says: 'Name of the job; the name of the file when absent.' },
  model: {
    takes: 'a name, a path to a config.json or a mapping of dimensions',
    says: 'What is trained.',
    example: 'llama-3.1-8b',
  },
  cluster: {
    takes: 'text such as 8x dgx-h100, a path or a mapping',
    says: 'What it is trained on.',
    example: '8x dgx-h100',
  },
  batch: {
    takes: 'a mapping of sequences (or tokens) and length',
    says: 'The global batch.',
    example: '{sequences: 512, length: 8192}',
  },
  'batch.sequences': { ...sizes, says: 'Sequences of the global batch.' },
  'batch.tokens': { ...sizes, says: 'Tokens of the global batch, in place of sequences.' },
  'batch.length': { ...sizes, says: 'Tokens of one sequence.', example: '8192' },
  'batch.max': { ...sizes, says: 'Largest batch in tokens that still trains well.' },
  precision: {
    takes: `one of ${precisionNames.join(', ')}`,
    says: 'Element type of weights and activations; fp8 recipes and mxfp8: of the products of layers, weights and activations bf16.',
  },
  optimizer: { takes: 'adamw or sgd', says: 'The optimizer.' },
  workload: {
    takes: 'pretrain, sft, packed or a mapping of lora',
    says: 'What is trained: all weights (sft: on answers; packed: several documents share a sequence), or adapters beside frozen weights: {lora: {rank, alpha, targets}}.',
  },
  framework: { takes: `one of ${frameworkNames.join(', ')}`, says: 'Whose habits to assume.' },
  kernels: { takes: 'a mapping of attention and dropout', says: 'How kernels are fused.' },
  'kernels.attention': { takes: 'flash or unfused', says: 'Blockwise attention, or scores written to memory.' },
  'kernels.dropout': { takes: 'a number from 0 to below 1', says: 'Probability of dropout.' },
  routing: { takes: 'a mapping of imbalance and dispatch', says: 'How tokens meet experts.' },
  'routing.imbalance': {
    takes: 'a number of 1 or more',
    says: 'Rows of the busiest expert rank over the mean; without it what uniform routing gives, in time only.',
  },
  'routing.dispatch': {
    takes: `one of ${dispatchNames.join(', ')}`,
    says: 'A copy of a token for each expert, rank or node; without it as the framework does.',
  },
  layout: { takes: 'auto, text such as tp=8,pp=4, or a mapping of layout keys', says: 'How the job is split.' },
};

/** The file when its shape is right, and every issue with its shape, without positions. */
export function checkJobFile(value: unknown): { readonly file?: JobFile; readonly issues: readonly Issue[] } {
  const result = fileSchema.safeParse(value);
  if (result.success) return { file: result.data as JobFile, issues: [] };
  return { issues: issuesOfSchema(result.error.issues, value, words) };
}

/** JSON Schema (2020-12) of a job file, for editors. It is at most as strict as the reader. */
export function jobSchema(): Readonly<Record<string, unknown>> {
  const described = Object.fromEntries(
    Object.entries({ ...shape, ...spelledOut(), ...describedMappings() }).map(([key, schema]) => [
      key,
      describe(schema, key),
    ]),
  );
  const schema = z.strictObject(described).meta({ title: 'Meshwright job' });
  return z.toJSONSchema(schema) as Readonly<Record<string, unknown>>;
}

const describe = (schema: z.ZodType, key: string): z.ZodType => schema.describe(words[key]?.says ?? '');

/** Mappings with words for each of their keys. */
const describedMappings = () => ({
  batch: describedKeys('batch', shape.batch),
  kernels: describedKeys('kernels', shape.kernels.unwrap()).optional(),
  routing: describedKeys('routing', shape.routing.unwrap()).optional(),
});

const describedKeys = (name: string, { shape: keys }: z.ZodObject) =>
  z.strictObject(
    Object.fromEntries(
      Object.entries(keys).map(([key, schema]) => [key, describe(schema as z.ZodType, `${name}.${key}`)]),
    ),
  );

function spelledOut() {
  const dimensions = Object.entries(dimensionRules).map(([key, rule]) => [key, dimensionSchema(rule)] as const);
  const layout = readableKeys.flatMap(({ names, says }) =>
    names.map((name) => [name, z.unknown().optional().describe(says)] as const),
  );
  const presets = z.enum(presetNames as [string, ...string[]]);
  const model = z.strictObject({ name: z.string().optional(), ...Object.fromEntries(dimensions) });
  return {
    model: z.union([presets, z.string().describe('Path to a config.json.'), model]),
    layout: z
      .union([
        z.literal('auto'),
        z.string().describe('Short text: tp=8,pp=4.'),
        z.strictObject(Object.fromEntries(layout)),
      ])
      .optional(),
  };
}

function dimensionSchema(rule: (typeof dimensionRules)[keyof typeof dimensionRules]): z.ZodType {
  const { type, what, min = 0, max = Number.MAX_SAFE_INTEGER, names = [] } = rule;
  const base = {
    integer: () => z.int().min(min).max(max),
    real: () => z.number().min(min).max(max),
    boolean: () => z.boolean(),
    name: () => z.enum(names as [string, ...string[]]),
  }[type]();
  return base.optional().describe(what);
}
