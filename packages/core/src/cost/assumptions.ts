import { type ClusterSpec, type Fact, halfProducts } from '../cluster/index.ts';
import { KERNEL_START } from './compute.ts';
import { TIER_OVERLAP } from './exchange.ts';
import type { Assumption } from './price-types.ts';

/** Host seconds per kernel: 14 kernels of a forward layer take 0.38 ms (newer stacks 0.3 to 0.45, 2022 0.94). */
export const LAUNCH_COMPUTE = 27e-6;
/** Host seconds per exchange; 2022 stacks took up to 0.17 ms. */
export const LAUNCH_EXCHANGE = 35e-6;

const notes = 'accuracy notes of the prototype predictor';

/** Every assumed number that prices of a cluster rest on, those of the hardware first. */
export function assumptionsOf(
  cluster: ClusterSpec,
  own: {
    readonly launchCompute: number;
    readonly launchExchange: number;
    readonly sustained: number;
    readonly spread: number;
  },
): readonly Assumption[] {
  if (cluster.device.measured) return [];
  const { device, intra, pcie, inter } = cluster;
  const facts: (readonly [string, Fact])[] = [
    ['sustained over burst rate of matrix products', device.sustained],
    ['attention forward, share of peak', device.attention.forward],
    ['attention backward, share of peak', device.attention.backward],
    ['share of memory bandwidth that kernels reach', device.memoryEfficiency],
    ['share of peak that a long tile of a product reaches', halfProducts(device).efficiency],
    ['memory that the allocator sees (bytes)', device.memory],
    [`${intra.name}: share of the rate`, intra.efficiency],
    [`${intra.name}: seconds per step`, intra.latency],
    [`${intra.name}: time over that of the curves`, intra.curveFit],
    ...(intra.peer === undefined ? [] : ([[`${intra.name}: rate between two devices (bytes/s)`, intra.peer]] as const)),
    ...(intra.gpus < cluster.gpusPerNode ? pcieFacts(pcie) : []),
    ...(cluster.nodes > 1 ? interFacts(inter) : []),
  ];
  const launch = (value: number, assumed: number, low: number, high: number): readonly [number, number, number] =>
    value === assumed ? [value, low, high] : [value, value, value];
  const rows: readonly (readonly [string, readonly [number, number, number], string])[] = [
    ['host seconds per kernel launch', launch(own.launchCompute, LAUNCH_COMPUTE, 10e-6, 67e-6), `${notes}, section 5`],
    [
      'host seconds per exchange launch',
      launch(own.launchExchange, LAUNCH_EXCHANGE, 15e-6, 170e-6),
      `${notes}, section 5`,
    ],
    ['device seconds before a memory-bound kernel moves bytes', [KERNEL_START, 1e-6, 5e-6], 'a guess with a range'],
    ...(own.spread > 0
      ? ([
          ['standard deviation of the speed of devices', [own.spread, 0, 2 * own.spread], 'physics notes: 1 to 2 %'],
        ] as const)
      : []),
    ['share of the faster tier that stays exposed', [TIER_OVERLAP, 0, 1], `${notes}, section 6`],
  ];
  return [
    ...facts
      .filter(([, fact]) => fact.kind === 'assumed')
      .map(([what, { value, low, high, source }]) =>
        what.startsWith('sustained') && own.sustained !== value
          ? { what, value: own.sustained, low: own.sustained, high: own.sustained, source: 'given' }
          : { what, value, low, high, source },
      ),
    ...rows.map(([what, [value, low, high], source]) => ({ what, value, low, high, source })),
    ...partRows(cluster),
  ];
}

const pcieFacts = (pcie: ClusterSpec['pcie']): readonly (readonly [string, Fact])[] => [
  [`${pcie.name}: share of the rate between devices`, pcie.efficiency],
  [`${pcie.name}: seconds per step between devices`, pcie.latency],
  [`${pcie.name}: devices behind one uplink`, pcie.gpusPerUplink],
];

const interFacts = (inter: ClusterSpec['inter']): readonly (readonly [string, Fact])[] => [
  [`${inter.name}: line rate (bytes/s)`, inter.rate],
  [`${inter.name}: share of the line rate`, inter.efficiency],
  [`${inter.name}: seconds per step`, inter.latency],
  ...inter.tiers.map(
    ({ name, oversubscription }) => [`${inter.name}: oversubscription, ${name}`, oversubscription] as const,
  ),
];

/** Groups of nodes that differ are priced as the slowest: what that may hide of each faster one. */
const partRows = ({ parts }: ClusterSpec): readonly Assumption[] =>
  parts
    .filter(({ speed }) => speed > 1)
    .map(({ device, speed }) => ({
      what: `${device}: speed that is used, of its own`,
      value: 1 / speed,
      low: 1 / speed,
      high: 1,
      source: 'nodes differ and the slowest decides; a pipeline with its stages on equal nodes can do better',
    }));
