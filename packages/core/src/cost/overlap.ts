/** @file How much kernels and exchanges slow each other down while they run together. */
import type { ClusterSpec } from '../cluster/index.ts';
import type { Assumption } from './price-types.ts';

/** Seconds together over seconds alone. */
export interface Overlap {
  /** Of a kernel while an exchange of its rank runs. */
  readonly compute: Assumption;
  /** Of an exchange while a kernel of one of its ranks runs. */
  readonly exchange: Assumption;
}

/** Exchanges take multiprocessors and memory bandwidth from kernels. Lee et al. 2025 ([lee2025] in docs/sources.md) measured
 * kernels of training steps on A100, H100, MI210 and MI250: 18.9 % longer in the mean, 40 % at most. How much exchanges
 * lose nobody tells. */
export const OVERLAP: Overlap = {
  compute: {
    what: 'seconds of a kernel beside an exchange over those alone',
    value: 1.189,
    low: 1.05,
    high: 1.4,
    source: 'Lee et al. 2025, abstract: mean and maximum; low end of the physics notes',
  },
  exchange: {
    what: 'seconds of an exchange beside a kernel over those alone',
    value: 1.05,
    low: 1,
    high: 1.3,
    source: 'a guess within the range of the physics notes',
  },
};

/** The factors of an overlap. */
export interface SlowDownFactors {
  readonly compute: number;
  readonly exchange: number;
}

/** The factors of {@link OVERLAP}. */
const OF_DEVICES: SlowDownFactors = Object.freeze({
  compute: OVERLAP.compute.value,
  exchange: OVERLAP.exchange.value,
});

/** A rank of a measured machine is one thread, which computes and copies in turns: each has half of its time. */
const OF_ONE_THREAD: SlowDownFactors = Object.freeze({ compute: 2, exchange: 2 });

/** How much kernels and exchanges slow each other down on the devices of a cluster. */
export const slowDownOf = ({ device }: Pick<ClusterSpec, 'device'>): SlowDownFactors =>
  device.measured ? OF_ONE_THREAD : OF_DEVICES;
