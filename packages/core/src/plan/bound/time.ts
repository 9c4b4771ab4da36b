/** @file A lower bound on the time of a step. */
import { isSharded, shardsOfBucket } from '../../compile/index.ts';
import { ENTRY, EXIT } from '../../cost/index.ts';
import { shardRanksOf } from '../../layout/index.ts';
import { isSplit, placementOf } from '../../schedules/index.ts';
import type { BlockPrice } from '../blocks.ts';
import { type OptimizerSeconds, optimizerSeconds, type SpecInput } from '../evaluate/buckets.ts';
import { EMBED, HEAD } from '../sample.ts';
import { dataAxis } from './data-axis.ts';
import { passesOf, type StageLoad, way } from './load.ts';

export interface BoundInput extends SpecInput {
  readonly microBatches: number;
  /** State tensors of the optimizer, each of 4 bytes an element. */
  readonly optimizerTensors: number;
  readonly tailOf: TailBook;
}

/** Norm and update of a rank that updates so many elements; they end every step. */
export type TailBook = (elements: number, input: SpecInput) => OptimizerSeconds;

/** Without padding they take no longer than in the walk. Kernels that wait for memory cost the same under every mesh of a
 * cluster, so what is known holds for all layouts of a job.
 */
export function tailBook(): TailBook {
  const book = () => ({ bf16: new Map<number, OptimizerSeconds>(), fp32: new Map<number, OptimizerSeconds>() });
  const known = { none: book(), optimizer: book() };
  return (elements, input) => {
    const ofType = known[input.layout.offload][input.layout.gradientType];
    const found = ofType.get(elements) ?? optimizerSeconds(input, elements, elements);
    ofType.set(elements, found);
    return found;
  };
}

/** Seconds that the walk of this step takes at least.
 *
 * Through each stage leads a path: the first micro-batch's way to it, all its work, the last one's way back to the first
 * stage. Beside it: the host, which never waits, and the lanes of the data axis.
 */
export function secondsBound(input: BoundInput, loads: readonly StageLoad[]): number {
  const { layout, microBatches } = input;
  const send = sendSeconds(input);
  const axisOf = dataAxis(input);
  const updated = updatedElements(layout);
  let known = loads[0] as StageLoad;
  let axis = axisOf(known);
  let tail = input.tailOf(updated(known), input);
  const { norm } = tail;
  let best = layout.schedule === 'naive' ? microBatches * roundTrip(loads, send) + norm : 0;
  let update = 0;
  const splits = isSplit(layout.schedule);
  const isMirrored = placementOf(layout.schedule) === 'mirror';
  let arrive = 0;
  let leave = 0;
  for (let stage = 0; stage < loads.length; stage++) {
    const load = loads[stage] as StageLoad;
    if (load !== known) {
      known = load;
      axis = axisOf(load);
      tail = input.tailOf(updated(load), input);
    }
    const work = microBatches * load.computeSeconds;
    const end = Math.max(Math.max(arrive, axis.open) + work, axis.opened + work - load.openForward);
    best = Math.max(
      best,
      Math.max(end, arrive + axis.inTurns) + leave + norm,
      Math.max(end + axis.last, end - load.lastBackward + axis.burst) + tail.norm,
      Math.max(axis.gatherLane, arrive + axis.reduceLane) + tail.norm,
      microBatches * load.hostSeconds + tail.norm,
    );
    update = Math.max(update, tail.update);
    // From both ends at once micro-batches come to two copies of the model.
    if (!isMirrored) arrive = Math.max(arrive + load.firstForward, axis.opened) + send;
    // Where backward is split, what ends last may be a weight part, which nobody waits for.
    if (!splits) leave += send + load.firstBackward;
  }
  return best + update;
}

/** The compute lanes of all stages together, over their number: the longest of them, which {@link computeBound} knows, is no
 * shorter. Blocks add up to no more than chunks of them.
 */
export function floorBound(input: BoundInput, layersOfKind: readonly number[]): number {
  const { layout, microBatches, blocks } = input;
  let ends = 0;
  for (const pass of passesOf(layout)) {
    ends += laneSeconds(blocks.call(pass, EMBED)) + laneSeconds(blocks.call(pass, HEAD));
  }
  return layersFloor(input, layersOfKind) + ((microBatches * ends) / layout.pipeline) * (1 - ROUNDING);
}

/** The same of the layers alone. */
export function layersFloor(
  { layout, microBatches, blocks }: Pick<BoundInput, 'layout' | 'microBatches' | 'blocks'>,
  layersOfKind: readonly number[],
): number {
  let seconds = 0;
  for (const pass of passesOf(layout)) {
    for (let kind = 0; kind < layersOfKind.length; kind++) {
      seconds += (layersOfKind[kind] ?? 0) * laneSeconds(blocks.call(pass, kind));
    }
  }
  return ((microBatches * seconds) / layout.pipeline) * (1 - ROUNDING);
}

/** These sums have another order than those of chunks. */
const ROUNDING = 1e-12;

const laneSeconds = (call: BlockPrice | undefined): number =>
  call === undefined ? 0 : way(call.matrix, ENTRY.compute, EXIT.compute);

/** The part of {@link secondsBound} that holds under any choice of the data axis: neither its lanes nor the optimizer. */
export function computeBound(input: BoundInput, loads: readonly StageLoad[]): number {
  const { layout, microBatches } = input;
  const send = sendSeconds(input);
  const splits = isSplit(layout.schedule);
  const isMirrored = placementOf(layout.schedule) === 'mirror';
  let best = layout.schedule === 'naive' ? microBatches * roundTrip(loads, send) : 0;
  let arrive = 0;
  let leave = 0;
  for (let stage = 0; stage < loads.length; stage++) {
    const load = loads[stage] as StageLoad;
    const work = microBatches * load.computeSeconds;
    best = Math.max(best, arrive + work + leave, microBatches * load.hostSeconds);
    if (!isMirrored) arrive = arrive + load.firstForward + send;
    if (!splits) leave += send + load.firstBackward;
  }
  return best;
}

/** Elements that one rank of a stage updates. */
function updatedElements(layout: BoundInput['layout']): (load: StageLoad) => number {
  const shards = isSharded(layout) ? shardRanksOf(layout) : 1;
  const experts = { experts: true } as const;
  const expertShards = isSharded(layout, experts) ? shardsOfBucket(experts, layout) : 1;
  return (load) => load.elements / shards + load.expertElements / expertShards;
}

function sendSeconds({ layout, blocks, prices }: BoundInput): number {
  if (layout.pipeline === 1) return 0;
  return prices.exchange({ kind: 'send', algorithm: 'ring', bytes: blocks.borderBytes, axes: ['pipeline'] });
}

/** One micro-batch through all stages and back: the last stage turns on its compute lane, the others pass on. */
function roundTrip(loads: readonly StageLoad[], send: number): number {
  let way = 2 * send * (loads.length - 1);
  for (let stage = 0; stage < loads.length; stage++) {
    const load = loads[stage] as StageLoad;
    if (stage === loads.length - 1) way += load.lastBackward;
    else way += load.firstBackward + Math.min(load.firstForward, load.openForward);
  }
  return way;
}
