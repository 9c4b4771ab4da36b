/** @file The job of a run: model, batch, precision and kernels. */

import type { ClusterSpec } from '../cluster/index.ts';
import { InputError } from '../errors/index.ts';
import { type FrameworkEra, type FrameworkName, frameworks } from '../frameworks/index.ts';
import { createJob, type Job, type Precision, type ProductRecipe } from '../job/index.ts';
import { modelFromDimensions } from '../model/index.ts';
import { type ModelOfRun, mixtureOf } from './mixture-of.ts';
import { measuredSeconds, type RunRow } from './run-row.ts';
import { type Outcome, skip } from './skip.ts';

/** What a job of a run is made from. */
export interface JobParts {
  readonly cluster: ClusterSpec;
  readonly framework: FrameworkName;
  readonly era: FrameworkEra;
}

/** A job with what was assumed to build it. */
export interface JobOfRun {
  readonly job: Job;
  readonly assumed: readonly string[];
}

/** Tokens of GPT-2: what is assumed where nobody states a vocabulary. */
const USUAL_VOCABULARY = 50_257;

const gelu = /gelu(?!.*glu)|relu/i;
const gated = /glu/i;

/** The job of a run. */
export function jobOf(row: RunRow, parts: JobParts): Outcome<JobOfRun> {
  const workload = row.workload.toLowerCase();
  if (!['', 'pretrain', 'sft'].includes(workload)) return skip('workload-not-priced', row.workload);
  if (/mamba|linear/i.test(row.attn) || (/MLA/i.test(row.attn) && row.preset === ''))
    return skip('attention-not-priced', row.attn);
  const format = formatOf(row.precision, parts.cluster.device.generation);
  if (format === undefined) return skip('precision-not-priced', row.precision);
  const pad = (vocabulary: number): number => paddedVocabulary(vocabulary, parts.framework, row.tp ?? 1);
  const model = row.experts === undefined && row.preset === '' ? denseOf(row, pad) : mixtureOf(row, pad);
  if (model.skipped) return model;
  const { seq: length } = row;
  const { sequences, assumed: batchAssumed } = sequencesOf(row);
  if (sequences === undefined || length === undefined) return skip('batch-missing', 'global batch or sequence length');
  const isGpt = model.value.model.norm === 'layernorm';
  const attention = parts.era.attention.value === 'unfused' && !/flash/i.test(row.notes) ? 'unfused' : 'flash';
  const dropout = isGpt ? parts.era.dropout.value : 0;
  try {
    const job = createJob({
      name: row.id,
      model: model.value.model,
      cluster: parts.cluster,
      batch: { sequences, length },
      precision: format.precision,
      framework: parts.framework,
      workload: workload === 'sft' ? 'sft' : 'pretrain',
      kernels: {
        attention,
        dropout,
        loss: parts.era.loss.value,
        ...(format.products && { products: format.products }),
      },
    });
    const assumed = [
      ...(workload === 'sft' ? ['answers: sequences of full length'] : []),
      ...model.value.assumed,
      ...format.assumed,
      ...batchAssumed,
      `attention: ${parts.era.attention.value}`,
      ...(dropout > 0 ? [`dropout: ${dropout}`] : []),
    ];
    return { value: { job, assumed } };
  } catch (error) {
    if (error instanceof InputError)
      return skip('dimensions-illegal', error.issues.map((each) => each.message).join(' '));
    throw error;
  }
}

/** The global batch; where nothing is timed and stages are one, the peak does not depend on it. */
function sequencesOf(row: RunRow): { sequences: number | undefined; assumed: readonly string[] } {
  const { global_batch: stated, micro_batch: microBatch, dp: data, pp: pipeline } = row;
  if (stated !== undefined || measuredSeconds(row) !== undefined || pipeline !== 1)
    return { sequences: stated, assumed: [] };
  if (microBatch === undefined || data === undefined) return { sequences: undefined, assumed: [] };
  return { sequences: microBatch * data, assumed: ['global batch: one micro-batch on each data rank'] };
}

interface Format {
  readonly precision: Precision;
  readonly products: ProductRecipe | undefined;
  readonly assumed: readonly string[];
}

/** Recipes by words in the column `precision`, first match wins. */
const recipes: readonly (readonly [RegExp, ProductRecipe])[] = [
  [/mx|sub-?channel/i, 'mxfp8'],
  [/row/i, 'fp8-by-row'],
  [/current|cs|tensor-?wise/i, 'fp8-current'],
  [/fp8/i, 'fp8-delayed'],
];

/** Element types of a name; blank means bf16. */
function formatOf(text: string, generation: ClusterSpec['device']['generation']): Format | undefined {
  const plain = { products: undefined, assumed: [] };
  if (/fp4|int8/i.test(text)) return undefined;
  const recipe = /fp8|mx/i.test(text) ? recipes.find(([name]) => name.test(text))?.[1] : undefined;
  if (recipe !== undefined) {
    const assumed = recipe === 'mxfp8' ? ['fp8: scaling by block is priced as scaling by tensor'] : [];
    // Scales by block run in software where the matrix units do not take them.
    const products = recipe === 'mxfp8' && generation === 'hopper' ? 'fp8-current' : recipe;
    return { precision: 'bf16', products, assumed };
  }
  if (/bf16/i.test(text)) return { precision: 'bf16', ...plain };
  if (/fp16|half/i.test(text)) return { precision: 'fp16', ...plain };
  if (/fp32/i.test(text)) return { precision: 'fp32', ...plain };
  return text === '' ? { precision: 'bf16', products: undefined, assumed: ['precision: bf16'] } : undefined;
}

function denseOf(row: RunRow, pad: (vocabulary: number) => number): Outcome<ModelOfRun> {
  const { layers, hidden, heads, ffn_hidden: ffn, vocab, seq, kv_heads: kvHeads, head_dim: headSize } = row;
  const missing = Object.entries({ layers, hidden, heads, seq }).filter(([, value]) => value === undefined);
  if (missing.length > 0) return skip('dimensions-missing', missing.map(([key]) => key).join(', '));
  const isGated = gated.test(row.ffn_act) && !/^gelu$/i.test(row.ffn_act);
  if (ffn === undefined && (isGated || row.ffn_act === '')) return skip('dimensions-missing', 'ffn_hidden');
  const plain = !isGated && (gelu.test(row.ffn_act) || row.ffn_act === '');
  const squared = /squared/i.test(row.ffn_act);
  const { model, issues } = modelFromDimensions(
    {
      kind: plain ? 'gpt2' : 'llama',
      layers,
      hidden,
      heads,
      vocab: pad(vocab ?? USUAL_VOCABULARY),
      ...(ffn !== undefined && { ffn }),
      ...(headSize !== undefined && { headSize }),
      ...(kvHeads !== undefined && { kvHeads }),
      positions: seq,
      ...(squared && { tied: false, mlpBias: false, qkvBias: false, outBias: false }),
    },
    'model',
  );
  if (model === undefined) return skip('dimensions-illegal', issues.map((each) => each.message).join(' '));
  const assumed = [
    ...(vocab === undefined ? [`vocabulary: ${USUAL_VOCABULARY}, that of GPT-2`] : []),
    ...(row.ffn_act === '' ? ['activation: GELU'] : []),
    ...(plain && ffn === undefined ? [`feed-forward: ${4 * (hidden ?? 0)}`] : []),
    ...(kvHeads === undefined ? ['key and value heads: as many as query heads'] : []),
    `output matrix: ${model.tied ? 'tied' : 'its own'}`,
  ];
  return { value: { model, assumed } };
}

/** Padded as the framework does, and in any case so that tensor ranks divide it. */
function paddedVocabulary(vocabulary: number, framework: FrameworkName, tensor: number): number {
  const rule = frameworks[framework].vocabulary.value;
  const step = tensor * (rule.kind === 'pad' ? rule.multiple : 1);
  return Math.ceil(vocabulary / step) * step;
}
