/** @file What the data axis adds to a stage at least. */
import {
  gathersBlock,
  isSharded,
  type Replicas,
  reducesEachMicroBatch,
  reductionsBlock,
  replicaGroup,
  replicasOfBucket,
  setsGroup,
  shardGroup,
  shardsOfBucket,
  sumsOverSets,
} from '../../compile/index.ts';
import { ENTRY, EXIT, TIER_OVERLAP } from '../../cost/index.ts';
import { replicasOf } from '../../layout/index.ts';
import { placementOf } from '../../schedules/index.ts';
import { bytesOf } from '../../tensor/index.ts';
import type { LayerPrice } from '../blocks.ts';
import type { LayerRun } from '../rows.ts';
import { expertsOf, layerElements, type StageLoad, sizeOf, way } from './load.ts';
import type { BoundInput } from './time.ts';

/** Seconds of the data axis on one stage; each is part of a path. */
export interface DataAxis {
  /** Before the first forward can start. */
  readonly open: number;
  /** Before the last blocks of the first forward can start. */
  readonly opened: number;
  /** After the end of the last backward. */
  readonly last: number;
  /** After the start of the last backward of the first chunk. */
  readonly burst: number;
  /** Reductions of the whole step on their lane. */
  readonly reduceLane: number;
  /** Gathers of the whole step on their lane. */
  readonly gatherLane: number;
  /** Gathers and calls in turns, when nothing is gathered ahead; 0 otherwise. */
  readonly inTurns: number;
}

const NOTHING: DataAxis = { open: 0, opened: 0, last: 0, burst: 0, reduceLane: 0, gatherLane: 0, inTurns: 0 };

/** A group over several tiers takes max + overlap x min of its tiers: one exchange of all bytes is at most this much more than
 * the exchanges of its parts.
 */
const TIERS = 1 + TIER_OVERLAP;

export function dataAxis(input: BoundInput): (load: StageLoad) => DataAxis {
  const { layout } = input;
  if (replicasOf(layout) === 1) return () => NOTHING;
  const axisOf = layout.sharding === 3 ? unitAxis(input) : bucketAxis(input);
  if (placementOf(layout.schedule) !== 'mirror') return axisOf;
  // Which of two copies a stage runs first and last is left open: the lanes of the whole step remain.
  return (load) => {
    const { reduceLane, gatherLane, inTurns } = axisOf(load);
    return { ...NOTHING, reduceLane, gatherLane, inTurns };
  };
}

/** Micro-batches that a layer of a stage sees: half of all where two copies of the model share them. */
const passesOf = ({ layout, microBatches }: BoundInput): number =>
  placementOf(layout.schedule) === 'mirror' ? microBatches / 2 : microBatches;

type ExchangeKind = 'all-gather' | 'all-reduce' | 'reduce-scatter';

/** Seconds of an exchange: a sum over all replicas, or a gather or scatter within a set of shards. */
const exchangeOf = (input: BoundInput) => {
  const { layout } = input;
  const [all, set] = [replicaGroup({}, layout), shardGroup({}, layout)];
  return (kind: ExchangeKind, bytes: number): number =>
    secondsOver(input, kind === 'all-reduce' ? all : set, kind, bytes);
};

const secondsOver = ({ prices }: BoundInput, { axes, part }: Replicas, kind: ExchangeKind, bytes: number): number =>
  prices.exchange({ kind, algorithm: 'ring', bytes, axes, ...(part && { part }) });

/** Seconds of an exchange of experts over their own replicas; 0 where there is one, or where a set holds each once. */
const expertExchangeOf = (input: BoundInput) => {
  const { layout } = input;
  const experts = { experts: true } as const;
  const [replicas, shards] = [replicasOfBucket(experts, layout), shardsOfBucket(experts, layout)];
  return (kind: ExchangeKind, bytes: number): number => {
    if (bytes === 0 || (kind === 'all-reduce' ? replicas : shards) === 1) return 0;
    return secondsOver(input, (kind === 'all-reduce' ? replicaGroup : shardGroup)(experts, layout), kind, bytes);
  };
};

/** Seconds of the sum over sets of the shards of so many elements; 0 where nothing is repeated. */
const setsOf = (input: BoundInput) => {
  const { layout } = input;
  if (!sumsOverSets(layout)) return () => 0;
  const group = setsGroup({}, layout);
  const bytes = bytesOf(layout.gradientType) / shardsOfBucket({}, layout);
  return (elements: number): number => secondsOver(input, group, 'all-reduce', elements * bytes);
};

/** Sharding 3: a gather for each run, a reduction for each block and micro-batch. */
function unitAxis(input: BoundInput): (load: StageLoad) => DataAxis {
  const { layout, microBatches } = input;
  const passes = passesOf(input);
  const exchange = exchangeOf(input);
  const gradient = bytesOf(layout.gradientType);
  const kinds = input.blocks.layers.map((layer, kind) => unitOf(input, layer, kind));
  const each = reducesEachMicroBatch(layout);
  const sets = setsOf(input);
  return (load) => {
    let gathers = 0;
    let reductions = 0;
    let calls = 0;
    let longest = 0;
    let shortest = Number.POSITIVE_INFINITY;
    for (const { kind, count } of load.runs) {
      const unit = kinds[kind] as Unit;
      gathers += count * unit.gather;
      reductions += count * unit.reduce;
      calls += count * unit.calls;
      longest = Math.max(longest, unit.gather);
      shortest = Math.min(shortest, unit.gather);
    }
    // Neighbouring uses share a gather: at most one where two invocations meet.
    const met = 2 * microBatches * layout.chunks * longest;
    const runs = Math.max(shortest, 2 * passes * gathers - met + shortest);
    const gatherLane = layout.reshard ? runs : gathers;
    const lowest = (kinds[load.firstRow.first] as Unit).elements;
    const embed = load.embedElements;
    const known = embed > 0 ? Math.min(embed, lowest) : lowest;
    return {
      ...NOTHING,
      last: exchange('reduce-scatter', known * gradient) + sets(known),
      burst: load.firstRow.runs.reduce((sum, { kind, count }) => sum + count * sets((kinds[kind] as Unit).elements), 0),
      reduceLane: (each ? passes : 1) * reductions,
      gatherLane,
      inTurns: layout.prefetch === 0 && layout.reshard ? passes * calls + gatherLane : 0,
    };
  };
}

/** A layer as a unit of sharding 3: its parameters, and the seconds of its exchanges and calls. */
interface Unit {
  readonly elements: number;
  readonly gather: number;
  readonly reduce: number;
  readonly calls: number;
}

function unitOf(input: BoundInput, { first, forward, backward }: LayerPrice, kind: number): Unit {
  // Weight parts read no weights, so gathers may pass beside them.
  const reading = input.blocks.call('I', kind) ?? backward;
  const exchange = exchangeOf(input);
  const expertExchange = expertExchangeOf(input);
  const elements = sizeOf(input.counts.layers[first]);
  const experts = input.counts.layers[first]?.experts ?? 0;
  const frozen = input.counts.layers[first]?.frozen ?? 0;
  const gatherSecond =
    expertExchange('all-gather', experts * bytesOf(input.weightType)) +
    (frozen > 0 ? exchange('all-gather', frozen * bytesOf(input.weightType)) : 0);
  // Of the two gathers of a unit that of its experts, or of what is frozen, ends last.
  const entry = gatherSecond > 0 ? ENTRY.tied : ENTRY.own;
  return {
    elements,
    gather: exchange('all-gather', elements * bytesOf(input.weightType)) + gatherSecond,
    reduce:
      exchange('reduce-scatter', elements * bytesOf(input.layout.gradientType)) +
      expertExchange('reduce-scatter', experts * bytesOf(input.layout.gradientType)),
    calls: way(forward.matrix, entry, EXIT.compute) + way(reading.matrix, entry, EXIT.compute),
  };
}

/** Buckets: gathers of updated weights first, reductions last or after each micro-batch. */
function bucketAxis(input: BoundInput): (load: StageLoad) => DataAxis {
  const { layout, weightType } = input;
  const passes = passesOf(input);
  const exchange = exchangeOf(input);
  const gradient = bytesOf(layout.gradientType);
  const reduce = layout.sharding === 0 ? 'all-reduce' : 'reduce-scatter';
  const each = reducesEachMicroBatch(layout);
  const sum = (kind: ExchangeKind, runs: readonly LayerRun[], bytes: number, apart: boolean): number => {
    const [run] = runs;
    const elements = layerElements(runs, input.blocks.layers, input.counts);
    // How layers of several sizes fall into buckets is left open.
    if (!apart || run === undefined || runs.length > 1) return exchange(kind, elements * bytes) / TIERS;
    const layer = elements / run.count;
    const perBucket = layersPerBucket(input, layer);
    const full = Math.floor(run.count / perBucket);
    const rest = run.count - full * perBucket;
    const whole = full > 0 ? full * exchange(kind, perBucket * layer * bytes) : 0;
    return whole + (rest > 0 ? exchange(kind, rest * layer * bytes) : 0);
  };
  const expertExchange = expertExchangeOf(input);
  const sets = setsOf(input);
  const experts = (runs: readonly LayerRun[]): number =>
    expertExchange(reduce, expertsOf(runs, input.blocks.layers, input.counts) * gradient) / TIERS;
  return (load) => {
    const apart = !load.headInFirst;
    const known = lowestBucket(input, load);
    const { runs } = load.firstRow;
    const sharded = isSharded(layout);
    const open = sharded ? exchange('all-gather', known * bytesOf(weightType)) : 0;
    const opened = sharded ? sum('all-gather', runs, bytesOf(weightType), apart) : 0;
    const last = exchange(reduce, known * gradient) + sets(known);
    const burst = Math.max(
      sum(reduce, runs, gradient, apart) + experts(runs),
      sets(layerElements(runs, input.blocks.layers, input.counts)) / TIERS,
    );
    return {
      ...NOTHING,
      // What holds up compute comes before all of it, or behind all of it.
      open: gathersBlock(layout) ? Math.max(open, opened) : open,
      opened,
      last: reductionsBlock(layout) && !each ? Math.max(last, burst) : last,
      burst,
      reduceLane: each
        ? passes * (sum(reduce, load.runs, gradient, apart && layout.chunks === 1) + experts(load.runs))
        : 0,
    };
  };
}

const layersPerBucket = ({ layout }: BoundInput, layer: number): number =>
  Math.max(1, Math.ceil((layout.bucketMB * 1e6) / (layer * bytesOf(layout.gradientType))));

/** Elements of the bucket of the lowest blocks at least; it completes last and is gathered first. */
function lowestBucket(input: BoundInput, { firstRow, headInFirst, embedElements }: StageLoad): number {
  const { first = 0 } = input.blocks.layers[firstRow.first] ?? {};
  const layer = sizeOf(input.counts.layers[first]);
  if (headInFirst || firstRow.runs.length > 1) return Math.min(layer, embedElements || layer);
  const perBucket = layersPerBucket(input, layer);
  const rest = firstRow.length % perBucket;
  if (rest > 0) return rest * layer;
  return embedElements > 0 ? embedElements : perBucket * layer;
}
