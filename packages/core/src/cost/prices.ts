/** @file Prices of work and exchanges: one book per cluster, opened for a mesh at a time. */
import { addsInSwitch, type ClusterSpec, gpuCount, type MeasuredDevice } from '../cluster/index.ts';
import { algorithms } from '../collectives/index.ts';
import { assertInvariant } from '../errors/index.ts';
import { type AxisName, degreeOf, type Mesh, worldSize } from '../mesh/index.ts';
import { type Seconds, seconds } from '../units/index.ts';
import { assumptionsOf, LAUNCH_COMPUTE, LAUNCH_EXCHANGE } from './assumptions.ts';
import { choicesOf, chosenTime, isChosen } from './chosen.ts';
import { type ComputePrice, createComputePrice } from './compute.ts';
import { busiestOf, type Dispatch } from './dispatch.ts';
import { exchangeTime } from './exchange.ts';
import { type ClusterTerms, clusterTerms, type GroupPrice, groupPrice } from './group-price.ts';
import { axisBits, ENDS, MASKS } from './group-shape.ts';
import { hostPrices } from './host.ts';
import { launchesOf } from './launches.ts';
import { measuredSeconds } from './measured.ts';
import { type TierAlgorithms, usualTiers } from './network/index.ts';
import type {
  Assumption,
  AxisPart,
  ExchangeRequest,
  ExchangeWays,
  LinkDescription,
  PriceOptions,
  Prices,
} from './price-types.ts';

/** Everything about a cluster that no mesh changes. Prices for another mesh take microseconds. */
export interface PriceBook {
  readonly cluster: ClusterSpec;
  pricesOf(mesh: Mesh): Prices;
}

/** Prices of one cluster under one mesh. Who asks for many meshes of one cluster keeps a {@link createPriceBook}. */
export const createPrices = (cluster: ClusterSpec, mesh: Mesh, options: PriceOptions = {}): Prices =>
  createPriceBook(cluster, options).pricesOf(mesh);

/** The price book of a cluster: products and attention by device, collectives by link, see docs/decisions/0005-price-model.md. */
export function createPriceBook(cluster: ClusterSpec, options: PriceOptions = {}): PriceBook {
  const { measured } = cluster.device;
  const own = {
    // What a rank of a measured machine does before a kernel is part of the kernel's price.
    launchCompute: measured ? 0 : (options.launchCompute ?? LAUNCH_COMPUTE),
    launchExchange: measured ? 0 : (options.launchExchange ?? LAUNCH_EXCHANGE),
    sustained: options.sustained ?? cluster.device.sustained.value,
    spread: options.spread ?? 0,
  };
  const terms = clusterTerms(cluster);
  const devices = gpuCount(cluster);
  const host = hostPrices(cluster);
  const compute = measured
    ? measuredPrice(measured, devices)
    : createComputePrice(cluster.device, {
        ...options,
        sustained: own.sustained,
        slowest: slowestOf(devices, own.spread),
      });
  const habits = {
    hidden: options.tensorHidden ?? 0,
    flat: options.rings === 'flat',
    ways: options.ways,
    dispatch: options.dispatch,
  };
  const products = options.expertProducts ?? 'grouped';
  let assumptions: readonly Assumption[] | undefined;
  return {
    cluster,
    pricesOf(mesh) {
      assertInvariant(worldSize(mesh) <= devices, () => `a mesh of ${worldSize(mesh)} ranks on ${devices} devices`);
      const groupOf = groupsOf(terms, mesh);
      const tensor = degreeOf(mesh, 'tensor');
      return {
        compute: (work, kernel): Seconds => compute(work, kernel, tensor) as Seconds,
        exchange: (request): Seconds =>
          exposedTime(groupOf(request.axes, request.members, request.part), request, habits) as Seconds,
        ...host,
        busiest: (rows, ranks) => busiestOf(rows, ranks, options.dispatch?.spread ?? 0),
        launch: (work, kernel) => seconds(own.launchCompute * launchesOf(work, kernel, products)),
        launchCompute: seconds(own.launchCompute),
        launchExchange: seconds(own.launchExchange),
        linkOf: (axes, members, part) => describe(cluster, groupOf(axes, members, part)),
        tiersOf: (request) => tiersOf(cluster, groupOf(request.axes, request.members, request.part), request, habits),
        get assumptions(): readonly Assumption[] {
          assumptions ??= assumptionsOf(cluster, own);
          return assumptions;
        },
      };
    },
  };
}

type GroupBook = (axes: readonly AxisName[], members?: 'all' | 'ends', part?: AxisPart) => GroupPrice;

/** The groups of a mesh, each worked out once. */
function groupsOf(terms: ClusterTerms, mesh: Mesh): GroupBook {
  const groups: (GroupPrice | undefined)[] = new Array(MASKS);
  const parts = new Map<number, GroupPrice>();
  return (axes, members, part) => {
    let mask = members === 'ends' ? ENDS : 0;
    for (let i = 0; i < axes.length; i++) mask |= axisBits[axes[i] as AxisName];
    if (part !== undefined && axes[0] !== undefined) {
      const key = (part.step * MOST_RANKS + part.count) * MASKS + mask;
      const found = parts.get(key) ?? groupPrice(terms, mesh, mask, { ...part, axis: axes[0] });
      parts.set(key, found);
      return found;
    }
    const known = groups[mask];
    if (known !== undefined) return known;
    const made = groupPrice(terms, mesh, mask);
    groups[mask] = made;
    return made;
  };
}

function measuredPrice(device: MeasuredDevice, ranks: number): ComputePrice {
  return (work, kernel) => {
    const seconds = measuredSeconds(device, ranks, work, kernel);
    return seconds.kernel + seconds.between;
  };
}

/** More than any mesh has. */
const MOST_RANKS = 2 ** 20;

/** Seconds of the slowest of `devices` over those of the mean one: an upper bound of the expected maximum of so many normal
 * deviations, which it nears as they grow in number (sigma sqrt(2 ln n)). */
const slowestOf = (devices: number, spread: number): number => 1 + spread * Math.sqrt(2 * Math.log(devices));

/** What decides how exchanges run beside the request. */
interface Habits {
  readonly hidden: number;
  readonly flat: boolean;
  readonly ways: ExchangeWays | undefined;
  readonly dispatch: PriceOptions['dispatch'];
}

/** How the tokens of an exchange travel; undefined where it has none. */
const dispatchOf = ({ experts }: ExchangeRequest, { dispatch }: Habits): Dispatch | undefined =>
  experts === undefined || dispatch === undefined ? undefined : { way: dispatch.way, topK: dispatch.topK, experts };

/** What is left of an exchange where the framework hides a share of it, or runs data exchanges as one flat ring. */
function exposedTime(group: GroupPrice, request: ExchangeRequest, habits: Habits): number {
  const { hidden, flat, ways } = habits;
  const axis = request.axes[0];
  if (isChosen(request, ways)) {
    return chosenTime(group, request, ways) * (axis === 'tensor' ? 1 - hidden : 1);
  }
  if (axis === 'tensor' && hidden > 0) return exchangeTime(group, request) * (1 - hidden);
  if (axis === 'data' && flat && request.algorithm === 'ring') {
    return exchangeTime(group, { ...request, algorithm: 'flat-ring' });
  }
  return exchangeTime(group, request, dispatchOf(request, habits));
}

/** What the prices above stand for: curves inside of domains were measured on what libraries do there. */
function tiersOf(cluster: ClusterSpec, group: GroupPrice, request: ExchangeRequest, habits: Habits): TierAlgorithms {
  const { flat: flatData, ways } = habits;
  const { kind, algorithm, axes } = request;
  const dispatch = dispatchOf(request, habits);
  if (algorithm === 'direct') {
    return { inside: algorithms.direct, between: algorithms.direct, ...(dispatch && { dispatch }) };
  }
  const flat = algorithm === 'flat-ring' || (flatData && axes[0] === 'data' && algorithm === 'ring');
  if (flat && kind !== 'all-to-all') return { inside: algorithms.ring, between: algorithms.ring, flat: true };
  const { inside, between } = usualTiers(addsInSwitch(cluster), kind);
  if (isChosen(request, ways)) {
    const choices = new Map(
      choicesOf(group, request, ways).map((each) => [each.tier.name, algorithms[each.algorithm]]),
    );
    return { inside: choices.get('inside') ?? inside, between: choices.get('between') ?? between };
  }
  const named = algorithm === 'tree' || algorithm === 'halving-doubling' ? algorithms[algorithm] : undefined;
  return { inside, between: named?.takes(kind, 2) ? named : between };
}

function describe(cluster: ClusterSpec, group: GroupPrice): LinkDescription {
  const shape = {
    crossesNode: group.crossesNode,
    ranks: group.ranks,
    ranksInDomain: group.inDomain,
    domainsInNode: group.inNode,
    islands: group.islands,
  };
  if (group.ranks <= 1) return { name: 'none', tier: 'none', bandwidth: 0, ...shape };
  if (group.islands > 1) return { name: cluster.inter.name, tier: 'inter', bandwidth: group.netRate, ...shape };
  if (group.inNode > 1) return { name: cluster.pcie.name, tier: 'pcie', bandwidth: group.pcieRate, ...shape };
  const sent = (group.ranks - 1) / group.ranks;
  return { name: cluster.intra.name, tier: 'intra', bandwidth: sent / group.domain.allGather.perByte, ...shape };
}
