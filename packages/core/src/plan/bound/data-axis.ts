/** @file What the data axis adds to a stage at least. */
import { isSharded, reducesEachMicroBatch } from '../../compile/index.ts';
import { ENTRY, EXIT, TIER_OVERLAP } from '../../cost/index.ts';
import { bytesOf } from '../../tensor/index.ts';
import { type StageLoad, sizeOf, way } from './load.ts';
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
  if (layout.data === 1) return () => NOTHING;
  return layout.sharding === 3 ? unitAxis(input) : bucketAxis(input);
}

type ExchangeKind = 'all-gather' | 'all-reduce' | 'reduce-scatter';

const exchangeOf =
  ({ prices }: BoundInput) =>
  (kind: ExchangeKind, bytes: number): number =>
    prices.exchange({ kind, algorithm: 'ring', bytes, axes: ['data'] });

/** Sharding 3: a gather for each run, a reduction for each block and micro-batch. */
function unitAxis(input: BoundInput): (load: StageLoad) => DataAxis {
  const { layout, counts, blocks, microBatches } = input;
  const exchange = exchangeOf(input);
  const layer = sizeOf(counts.layer);
  const gather = exchange('all-gather', layer * bytesOf(input.weightType));
  const gradient = bytesOf(layout.gradientType);
  const reduce = exchange('reduce-scatter', layer * gradient);
  const each = reducesEachMicroBatch(layout);
  const { layerForward, layerBackward } = blocks.calls;
  const calls = way(layerForward.matrix, ENTRY.own, EXIT.compute) + way(layerBackward.matrix, ENTRY.own, EXIT.compute);
  return (load) => {
    // Neighbouring uses share a gather: at most one where two invocations meet.
    const gathers = layout.reshard ? Math.max(1, 2 * microBatches * (load.layers - layout.chunks) + 1) : load.layers;
    const embed = load.embedElements;
    return {
      ...NOTHING,
      last: exchange('reduce-scatter', (embed > 0 ? Math.min(embed, layer) : layer) * gradient),
      reduceLane: (each ? microBatches : 1) * load.layers * reduce,
      gatherLane: gathers * gather,
      inTurns: layout.prefetch === 0 && layout.reshard ? microBatches * load.layers * calls + gathers * gather : 0,
    };
  };
}

/** Buckets: gathers of updated weights first, reductions last or after each micro-batch. */
function bucketAxis(input: BoundInput): (load: StageLoad) => DataAxis {
  const { layout, counts, microBatches, weightType } = input;
  const exchange = exchangeOf(input);
  const gradient = bytesOf(layout.gradientType);
  const reduce = layout.sharding === 0 ? 'all-reduce' : 'reduce-scatter';
  const layer = sizeOf(counts.layer);
  const perBucket = Math.max(1, Math.ceil((layout.bucketMB * 1e6) / (layer * gradient)));
  const each = reducesEachMicroBatch(layout);
  const sum = (kind: ExchangeKind, layers: number, bytes: number, apart: boolean): number => {
    if (!apart) return exchange(kind, layers * layer * bytes) / TIERS;
    const full = Math.floor(layers / perBucket);
    const rest = layers - full * perBucket;
    const whole = full > 0 ? full * exchange(kind, perBucket * layer * bytes) : 0;
    return whole + (rest > 0 ? exchange(kind, rest * layer * bytes) : 0);
  };
  return (load) => {
    const apart = !load.headInFirst;
    const rest = load.firstLayers % perBucket;
    // The bucket of the lowest blocks completes last and is gathered first.
    const lowest = rest > 0 ? rest * layer : load.embedElements > 0 ? load.embedElements : perBucket * layer;
    const known = apart ? lowest : Math.min(layer, load.embedElements || layer);
    const sharded = isSharded(layout);
    return {
      ...NOTHING,
      open: sharded ? exchange('all-gather', known * bytesOf(weightType)) : 0,
      opened: sharded ? sum('all-gather', load.firstLayers, bytesOf(weightType), apart) : 0,
      last: exchange(reduce, known * gradient),
      burst: sum(reduce, load.firstLayers, gradient, apart),
      reduceLane: each ? microBatches * sum(reduce, load.layers, gradient, apart && layout.chunks === 1) : 0,
    };
  };
}
