/** @file From the habits of a framework to the options of the price book. */
import type { ClusterSpec } from '../cluster/index.ts';
import type { PriceOptions } from '../cost/index.ts';
import {
  type AttentionKernel,
  elementwiseTraffic,
  eraOf,
  expertTraffic,
  type FrameworkEra,
  frameworks,
} from '../frameworks/index.ts';
import type { Job } from '../job/index.ts';

interface KernelShare {
  readonly forward: number;
  readonly backward: number;
}

const whole: KernelShare = { forward: 1, backward: 1 };

/** Rate of a release of attention over that of the device's best one.
 *
 * Dao 2023 (FlashAttention-2): around twice as fast as release 1 (abstract); against its Triton port 1.3 to 1.5 times as fast
 * forward and about twice backward (section 1). Shah et al. 2024 (FlashAttention-3), abstract: release 2 reaches 35 % of an
 * H100; over the 0.52 and 0.44 of the device's best kernel (data/hardware.json, causal) that is 0.6 after the causal mask. */
const older: Readonly<Record<AttentionKernel, KernelShare>> = {
  unfused: whole,
  vendor: whole,
  'flash-2': whole,
  'flash-1': { forward: 0.5, backward: 0.5 },
  'flash-1-triton': { forward: 0.71, backward: 0.5 },
};
/** Release 2 over the best kernel of Hopper and Blackwell. */
const NEWER = 0.6;

/** Share of the rate of the device's best kernel that `kernel` reaches. */
function shareOf(kernel: AttentionKernel, generation: ClusterSpec['device']['generation']): KernelShare {
  const { forward, backward } = older[kernel];
  if (isOlder(generation) || kernel === 'vendor' || kernel === 'unfused') return older[kernel];
  return { forward: NEWER * forward, backward: NEWER * backward };
}

/** Release 2 is the best kernel there, or the device's own rate is already that of what runs on it. */
const isOlder = (generation: ClusterSpec['device']['generation']): boolean =>
  generation !== 'hopper' && generation !== 'blackwell';

/** Standard deviation of the speed of devices of one kind under load; physics notes say 1 to 2 %. */
const SPREAD = 0.01;
/** Casts of scaling by row over those by tensor: accuracy notes, section 2. */
const ROW_CASTS = 2;

/** Prices as the job's framework pays them in the releases of `year`; the newest when absent. */
export function priceOptionsOf(job: Job, year?: number): PriceOptions {
  return optionsOfEra(job, eraOf(frameworks[job.framework], year));
}

/** Prices under the habits of an era. */
export function optionsOfEra(job: Job, era: FrameworkEra): PriceOptions {
  const hidden = era.tensorHidden.value;
  return {
    launchCompute: era.launchSeconds.value,
    launchExchange: era.exchangeSeconds.value,
    attention: shareOf(era.attention.value, job.cluster.device.generation),
    traffic: { ...elementwiseTraffic(era.elementwise.value), ...expertsOf(job, era) },
    castsProducts: job.precision !== 'fp32',
    rings: era.rings.value,
    addsSeparately: era.accumulation.value === 'separate',
    ...(hidden > 0 && { tensorHidden: hidden }),
    spread: SPREAD,
    ...dispatchOf(job, era),
    expertProducts: era.expertProducts.value,
    ...fp8Of(job),
  };
}

/** Layers with experts are alike in activation, biases and widths. */
function expertsOf({ model }: Job, { elementwise }: FrameworkEra): NonNullable<PriceOptions['traffic']> {
  const ffn = model.layers.map((layer) => layer.ffn).find(({ kind }) => kind === 'moe');
  return ffn?.kind === 'moe' ? expertTraffic(elementwise.value, ffn, model.hidden) : {};
}

/** Layers that choose different numbers of experts are priced as those that choose most. */
function dispatchOf({ model, routing }: Job, era: FrameworkEra): Pick<PriceOptions, 'dispatch'> {
  const topK = Math.max(0, ...model.layers.map(({ ffn }) => (ffn.kind === 'moe' ? ffn.topK : 0)));
  if (topK === 0) return {};
  const balanced = routing.imbalance !== undefined;
  return { dispatch: { way: routing.dispatch ?? era.dispatch.value, topK, spread: balanced ? 0 : 1 } };
}

function fp8Of({ kernels, model }: Job): Pick<PriceOptions, 'fp8'> {
  const { products } = kernels;
  if (products === undefined) return {};
  return { fp8: { vocabulary: model.vocabulary, casts: products === 'fp8-by-row' ? ROW_CASTS : 1 } };
}
