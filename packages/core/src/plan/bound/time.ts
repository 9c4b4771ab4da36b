/** @file A lower bound on the time of a step. */
import { isSharded, type ParameterCounts } from '../../compile/index.ts';
import type { Prices } from '../../cost/index.ts';
import type { Layout } from '../../layout/index.ts';
import { bytesOf, type DType } from '../../tensor/index.ts';
import type { BlockPrices } from '../blocks.ts';
import { dataAxis } from './data-axis.ts';
import type { StageLoad } from './load.ts';

export interface BoundInput {
  readonly layout: Layout;
  readonly counts: ParameterCounts;
  readonly blocks: BlockPrices;
  readonly prices: Prices;
  readonly microBatches: number;
  readonly weightType: DType;
  /** State tensors of the optimizer, each of 4 bytes an element. */
  readonly optimizerTensors: number;
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
  const tail = optimizerTail(input);
  const norm = tail.norm(loads[0]?.elements ?? 0);
  let best = layout.schedule === 'naive' ? microBatches * roundTrip(loads, send) + norm : 0;
  let update = 0;
  let arrive = 0;
  let leave = 0;
  for (let stage = 0; stage < loads.length; stage++) {
    const load = loads[stage] as StageLoad;
    const axis = axisOf(load);
    const work = microBatches * load.computeSeconds;
    const end = Math.max(Math.max(arrive, axis.open) + work, axis.opened + work - load.openForward);
    const own = tail.norm(load.elements);
    best = Math.max(
      best,
      Math.max(end, arrive + axis.inTurns) + leave + norm,
      Math.max(end + axis.last, end - load.lastBackward + axis.burst) + own,
      Math.max(axis.gatherLane, arrive + axis.reduceLane) + own,
      microBatches * load.hostSeconds + own,
    );
    update = Math.max(update, tail.step(load.elements));
    arrive = Math.max(arrive + load.firstForward, axis.opened) + send;
    leave += send + load.firstBackward;
  }
  return best + update;
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

/** Seconds of the norm and of the optimizer's step for a stage's parameters; they end every step. */
function optimizerTail({ layout, prices, weightType, optimizerTensors }: BoundInput) {
  const shard = isSharded(layout) ? layout.data : 1;
  const memory = (read: number, written: number): number =>
    prices.compute({ kind: 'memory', flops: 0, bytesRead: read, bytesWritten: written });
  const gradientBytes = (elements: number): number => (elements / shard) * bytesOf(layout.gradientType);
  return {
    norm: (elements: number): number => memory(gradientBytes(elements), 4),
    step: (elements: number): number => {
      const state = (elements / shard) * (bytesOf(weightType) + 4 * optimizerTensors);
      return memory(gradientBytes(elements) + state, state);
    },
  };
}
