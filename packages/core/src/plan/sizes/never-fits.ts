/** @file Whether a job fits on no number of devices, and why: a lower bound of memory that holds for every size.
 *
 * More devices shrink what data and pipeline ranks share. They do not shrink what one layer (or an end of the model) holds
 * while it runs once: its activations for one micro-batch, its weights, which are there in whole while they are used, and
 * the state that the sharding leaves whole. The least of that over all degrees that the model and the layout allow is less
 * than any layout needs on any size.
 */
import { capacityBytes } from '../../cluster/index.ts';
import { blockContext, frozenPerParameter, parameterCounts, statePerParameter } from '../../compile/index.ts';
import { profileOf } from '../../cost/index.ts';
import type { Job } from '../../job/index.ts';
import { completeLayout, type Layout, TOKENS_OF_CONTEXT_RANK } from '../../layout/index.ts';
import { commonDivisors, divisorsOf } from '../../mesh/index.ts';
import { bytes, formatBytes } from '../../units/index.ts';
import { type Pass, sampleOf } from '../sample.ts';
import { splitCosts } from '../split-costs.ts';

export interface NeverFits {
  /** Less than any layout needs on any number of devices. */
  readonly leastBytes: number;
  readonly capacityBytes: number;
  readonly words: string;
}

/** Data ranks that stand for any number of them. */
const MANY = 2 ** 40;

interface Least {
  readonly total: number;
  readonly activations: number;
  readonly state: number;
  readonly layout: Layout;
}

/** Why no size fits; undefined where this bound does not say so. */
export function neverFits(job: Job): NeverFits | undefined {
  const capacity = capacityBytes(job.cluster);
  let least: Least | undefined;
  for (const layout of leastLayouts(job)) {
    const mine = leastOf(job, layout);
    if (least === undefined || mine.total < least.total) least = mine;
    if (least.total <= capacity) return undefined;
  }
  if (least === undefined) return undefined;
  const { layout, total, activations, state } = least;
  const cut = [`tensor ${layout.tensor}`, ...(layout.context > 1 ? [`context ${layout.context}`] : [])].join(' and ');
  const words =
    `no number of these devices is enough: one layer of one micro-batch (${layout.microBatch} x ${job.batch.length} tokens) ` +
    `holds ${formatBytes(bytes(activations))} of activations and ${formatBytes(bytes(state))} of state on each rank ` +
    `even with ${cut}, and a device has ${formatBytes(bytes(capacity))}.`;
  return { leastBytes: total, capacityBytes: capacity, words };
}

/** One layout for each choice that more devices do not make: degrees inside a layer, and what backward keeps. */
function* leastLayouts(job: Job): Iterable<Layout> {
  const { layout: request, model, batch } = job;
  const base = completeLayout(
    { sharding: 3, ...request, microBatch: request.microBatch ?? 1 },
    job,
    splitCosts(job),
  ).layout;
  const heads = model.layers.map(({ attention }) => attention.heads);
  const tensors = request.tensor === undefined ? [...commonDivisors(heads)].reverse() : [request.tensor];
  const most = Math.max(1, Math.floor(batch.length / TOKENS_OF_CONTEXT_RANK));
  const contexts =
    request.context === undefined ? divisorsOf(batch.length).filter((each) => each <= most) : [request.context];
  const recomputes = request.recompute === undefined ? (['full', 'none', 'selective'] as const) : [request.recompute];
  for (const tensor of tensors) {
    for (const context of [...contexts].reverse()) {
      if (context > 1 && batch.length % (2 * context) !== 0) continue;
      for (const expert of expertsOf(job)) {
        for (const recompute of recomputes) {
          const expertTensor = expert === 1 ? tensor : (request.expertTensor ?? 1);
          const sequenceParallel = tensor > 1 && (request.sequenceParallel ?? true);
          yield { ...base, tensor, context, expert, expertTensor, recompute, sequenceParallel, data: expert };
        }
      }
    }
  }
}

/** Expert degrees: the one that is given, or none and as many as there are experts. */
function expertsOf({ layout, model }: Job): readonly number[] {
  if (layout.expert !== undefined) return [layout.expert];
  const counts = model.layers.flatMap(({ ffn }) => (ffn.kind === 'moe' ? [ffn.experts] : []));
  return counts.length === 0 ? [1] : [1, Math.max(...counts)];
}

function leastOf(job: Job, layout: Layout): Least {
  const sample = sampleOf(blockContext(job, layout), layout.gradientType);
  const counts = parameterCounts(job.model, layout);
  const { weights, gradients, optimizer } = statePerParameter(job, { ...layout, data: MANY });
  // Sharding 3 gathers the weights of a layer before it runs.
  const perParameter = (layout.sharding === 3 ? 2 : weights) + gradients + optimizer;
  const perFrozen = layout.sharding === 3 ? 2 : frozenPerParameter(job, { ...layout, data: MANY });
  const profile = (pass: Pass, kind: number) => {
    const call = sample.calls.find((each) => each.pass === pass && each.kind === kind);
    return call && profileOf(call.memory, sample.rangeBytes);
  };
  // The first layers of the model stand for their kinds; the smallest one is less than any.
  const state = Math.min(
    ...counts.layers.map(({ summed, rest, frozen = 0 }) => (summed + rest) * perParameter + frozen * perFrozen),
  );
  const layers = Array.from({ length: sample.kinds }, (_, kind) => {
    const backward = profile('B', kind) ?? profile('I', kind);
    const activations = (profile('F', kind)?.net ?? 0) + (backward?.rise ?? 0);
    return { activations, state };
  });
  const [first] = layers;
  const { activations } = layers.reduce(
    (most, each) => (each.activations > most.activations ? each : most),
    first ?? { activations: 0, state: 0 },
  );
  return { total: activations + state, activations, state, layout };
}
