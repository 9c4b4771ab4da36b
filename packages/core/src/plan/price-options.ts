/** @file From the habits of a framework to the options of the price book. */
import type { ClusterSpec } from '../cluster/index.ts';
import type { PriceOptions } from '../cost/index.ts';
import { type AttentionKernel, elementwiseTraffic, eraOf, type FrameworkEra, frameworks } from '../frameworks/index.ts';
import type { Job } from '../job/index.ts';

interface KernelShare {
  readonly forward: number;
  readonly backward: number;
}

const whole: KernelShare = { forward: 1, backward: 1 };

/** Rate of a release of attention over that of the device's best one.
 *
 * Dao 2023 (FlashAttention-2), section 4 and abstract: release 1 reaches 30 to 50 % of an A100's peak forward and 25 to
 * 35 % backward, release 2 up to 73 and 63 %. Shah et al. 2024 (FlashAttention-3), abstract: release 2 reaches 35 % of an
 * H100, release 3 up to 75 %. Against the numbers of the device (data/hardware.json) for length 4,096 and causal masks. */
const shares: Readonly<Record<AttentionKernel, (generation: ClusterSpec['device']['generation']) => KernelShare>> = {
  unfused: () => whole,
  vendor: () => whole,
  'flash-2': (generation) => (isOlder(generation) ? whole : { forward: 0.6, backward: 0.6 }),
  'flash-1': (generation) =>
    isOlder(generation) ? { forward: 0.65, backward: 0.62 } : { forward: 0.39, backward: 0.38 },
};

const isOlder = (generation: ClusterSpec['device']['generation']): boolean =>
  generation === 'ampere' || generation === 'ada';

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
    attention: shares[era.attention.value](job.cluster.device.generation),
    traffic: elementwiseTraffic(era.elementwise.value),
    castsProducts: job.precision !== 'fp32',
    rings: era.rings.value,
    addsSeparately: era.accumulation.value === 'separate',
    ...(hidden > 0 && { tensorHidden: hidden }),
    spread: SPREAD,
    ...fp8Of(job),
  };
}

function fp8Of({ kernels, model }: Job): Pick<PriceOptions, 'fp8'> {
  const { products } = kernels;
  if (products === undefined) return {};
  return { fp8: { vocabulary: model.vocabulary, casts: products === 'fp8-by-row' ? ROW_CASTS : 1 } };
}
