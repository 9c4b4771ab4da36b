/** @file The layout of a run, with what is assumed for keys that the row leaves blank. */
import { type FrameworkEra, frameworks } from '../frameworks/index.ts';
import type { Job } from '../job/index.ts';
import { completeLayout, type Layout, type LayoutRequest, type Sharding } from '../layout/index.ts';
import { splitCosts } from '../plan/index.ts';
import { type RecomputeOfRun, recomputeOf } from './recompute-of.ts';
import type { RunRow } from './run-row.ts';
import { type Outcome, skip } from './skip.ts';

/** Bubble over ideal time of plain 1F1B up to which unknown chunks do not matter. */
const SMALL_BUBBLE = 0.1;
/** One bucket for everything: reductions begin when the last gradient is there. */
const EVERYTHING_MB = 1e9;

/** Layouts of a run: one, or two between which it lies (recomputation of a share of the layers). */
export interface LayoutOfRun {
  readonly layout: Layout;
  /** The same with full recomputation, and how much of the step is like it; `waits`: seconds that come to it. */
  readonly recomputed?: Recomputed;
  /** Full recomputation, where the row leaves open what is given up. */
  readonly open?: Layout;
  readonly assumed: readonly string[];
}

export interface Recomputed {
  readonly layout: Layout;
  /** Share of the time that is like it. */
  readonly share: number;
  /** Share of the memory that is like it; `share` where absent. */
  readonly memoryShare?: number;
  /** Seconds that come to the step. */
  readonly waits?: number;
}

/** The layout of a run. */
export function layoutOf(row: RunRow, job: Job, era: FrameworkEra): Outcome<LayoutOfRun> {
  const { tp: tensor, pp: pipeline, dp: data, cp: context = 1, micro_batch: microBatch } = row;
  if (tensor === undefined || pipeline === undefined || data === undefined)
    return skip('layout-missing', 'a degree is blank');
  if (row.experts !== undefined && row.ep === undefined) return skip('layout-missing', 'the expert degree is blank');
  if (microBatch === undefined) return skip('batch-missing', 'micro-batch');
  if (job.batch.length % (2 * context) !== 0) return skip('context-not-priced', `context degree ${context}`);
  const chunks = chunksOf(row, job, pipeline, data * microBatch);
  if (chunks.skipped) return chunks;
  const sharding = shardingOf(row, data * context);
  if (sharding.skipped) return sharding;
  const recompute = recomputeOf(row);
  if (recompute.skipped) return recompute;
  const layers = layersOf(job, pipeline, chunks.value.chunks);
  const sequence = sequenceOf(row, era, tensor);
  const request: LayoutRequest = {
    tensor,
    pipeline,
    data,
    context,
    expert: row.ep ?? 1,
    ...(row.etp !== undefined && { expertTensor: row.etp }),
    microBatch,
    chunks: chunks.value.chunks,
    sharding: sharding.value.sharding,
    sequenceParallel: sequence.on,
    gradientType: job.precision === 'bf16' ? frameworks[job.framework].gradientType.value : 'fp32',
    ...(era.dataReduction.value === 'after' && { bucketMB: EVERYTHING_MB }),
    ...(layers.split !== undefined && { layersPerStage: layers.split }),
  };
  const handed = context > 1 ? ['context: keys and values are handed around in a ring'] : [];
  const assumed = [...handed, ...[chunks, sharding, recompute].flatMap(({ value }) => value.assumed)];
  return completed(request, job, recompute.value, [...assumed, ...sequence.assumed, ...layers.assumed]);
}

function completed(
  request: LayoutRequest,
  job: Job,
  { kind, share, memoryShare = share, open }: RecomputeOfRun,
  assumed: readonly string[],
): Outcome<LayoutOfRun> {
  const costs = splitCosts(job);
  const complete = (recompute: Layout['recompute']): Outcome<Layout> => {
    const { layout, issues } = completeLayout({ ...request, recompute }, job, costs);
    const wrong = issues.find((each) => each.severity === 'error');
    return wrong === undefined ? { value: layout } : skip('layout-illegal', `${wrong.code}: ${wrong.message}`);
  };
  const first = complete(kind);
  if (first.skipped) return first;
  if (share === 0 && !open) return { value: { layout: first.value, assumed } };
  const second = complete('full');
  if (second.skipped) return second;
  if (open) return { value: { layout: first.value, open: second.value, assumed } };
  return { value: { layout: first.value, recomputed: { layout: second.value, share, memoryShare }, assumed } };
}

function chunksOf(
  row: RunRow,
  job: Job,
  pipeline: number,
  sequencesAtOnce: number,
): Outcome<{ chunks: number; assumed: readonly string[] }> {
  if (row.vpp !== undefined || pipeline === 1) return { value: { chunks: row.vpp ?? 1, assumed: [] } };
  const bubble = (pipeline - 1) / (job.batch.sequences / sequencesAtOnce);
  if (bubble > SMALL_BUBBLE) return skip('chunks-unknown', `a bubble of ${Math.round(100 * bubble)} % without chunks`);
  return { value: { chunks: 1, assumed: ['chunks per stage: 1'] } };
}

const partly = /over (\d+) ranks|shard group (\d+)|shard (\d+)/i;

function shardingOf(row: RunRow, data: number): Outcome<{ sharding: Sharding; assumed: readonly string[] }> {
  const text = row.zero_fsdp;
  const stage = stageOf(text);
  if (stage === undefined) return skip('sharding-not-priced', text);
  const group = Number(partly.exec(text)?.slice(1).find(Boolean) ?? data);
  const assumed = [
    ...(text === '' ? ['sharding: none'] : []),
    ...(group < data ? [`sharding: over all ${data} data ranks`] : []),
  ];
  return { value: { sharding: stage, assumed } };
}

function stageOf(text: string): Sharding | undefined {
  if (text === '' || /none|zero-0|no fsdp/i.test(text)) return 0;
  if (/grad_op|zero-2/i.test(text)) return 2;
  if (/zero-3|fsdp/i.test(text)) return 3;
  return /zero-1|distributed opt/i.test(text) ? 1 : undefined;
}

function sequenceOf(row: RunRow, era: FrameworkEra, tensor: number): { on: boolean; assumed: readonly string[] } {
  if (tensor === 1) return { on: false, assumed: [] };
  const text = row.sp.toLowerCase();
  if (/^(y|on|true)/.test(text)) return { on: true, assumed: [] };
  if (/^(n|no|off|false)$/.test(text)) return { on: false, assumed: [] };
  const on = era.sequenceParallel.value;
  return { on, assumed: [`sequence parallelism: ${on ? 'on' : 'off'}`] };
}

/** Equal chunks as frameworks cut them; one layer less at both ends where embedding and head take a layer's place. */
function layersOf(
  job: Job,
  pipeline: number,
  chunks: number,
): { split: readonly number[] | undefined; assumed: readonly string[] } {
  const layers = job.model.layers.length;
  const parts = pipeline * chunks;
  const equal = layers / parts;
  if (Number.isInteger(equal)) return { split: Array.from({ length: parts }, () => equal), assumed: [] };
  const full = (layers + 2) / parts;
  if (Number.isInteger(full) && full > 1 && parts > 1) {
    const split = Array.from({ length: parts }, (_, index) => (index === 0 || index === parts - 1 ? full - 1 : full));
    return { split, assumed: ['layers: one less in the first and the last chunk'] };
  }
  return { split: undefined, assumed: ['layers: a balanced split'] };
}
