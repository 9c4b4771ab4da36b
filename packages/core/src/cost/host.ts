/** @file What the host does for its devices: copies over the links between them, updates of what lies in its memory. */
import type { ClusterSpec } from '../cluster/index.ts';
import { type Seconds, seconds } from '../units/index.ts';
import type { Assumption } from './price-types.ts';

/** Share of the rate of host memory that an optimizer step on the processors reaches: 1 billion parameters in 0.22 s, about 28
 * bytes each, on a node of 256 GB/s (docs/sources.md, ZeRO-Offload). */
const HOST_SHARE = 0.5;

export interface HostPrices {
  readonly hostCopy: (bytes: number) => Seconds;
  readonly hostPass: (bytes: number) => Seconds;
}

/** Both while every device of the node does the same. */
export function hostPrices({ host, gpusPerNode }: Pick<ClusterSpec, 'host' | 'gpusPerNode'>): HostPrices {
  const memoryRate = host.memoryBandwidth.value / gpusPerNode;
  const copyRate = Math.min(host.copyBandwidth.value / Math.min(host.gpusPerUplink.value, gpusPerNode), memoryRate);
  return {
    hostCopy: (bytes) => seconds(bytes / copyRate),
    hostPass: (bytes) => seconds(bytes / (memoryRate * HOST_SHARE)),
  };
}

/** The assumed numbers of these prices; they matter where something lies in host memory. */
export const hostAssumptions = ({ host }: Pick<ClusterSpec, 'host'>): readonly Assumption[] => [
  ...(
    [
      ['rate of copies between host and one device (bytes/s)', host.copyBandwidth],
      ['rate of host memory of a node (bytes/s)', host.memoryBandwidth],
      ['devices that share a link to the host', host.gpusPerUplink],
    ] as const
  )
    .filter(([, { kind }]) => kind === 'assumed')
    .map(([what, { value, low, high, source }]) => ({ what, value, low, high, source })),
  {
    what: 'share of the rate of host memory that an optimizer step reaches',
    value: HOST_SHARE,
    low: 0.3,
    high: 0.8,
    source: 'ZeRO-Offload, table of Adam on processors',
  },
];
