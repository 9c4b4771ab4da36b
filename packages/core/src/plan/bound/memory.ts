/** @file A lower bound on the memory of each stage: live bytes at moments that the schedule passes through. */
import { isSharded, reducesEachMicroBatch } from '../../compile/index.ts';
import { bytesOf } from '../../tensor/index.ts';
import type { BlockPrice } from '../blocks.ts';
import { type StageLoad, sizeOf } from './load.ts';
import type { BoundInput } from './time.ts';

/** The largest lower bound over the stages, and the state of that stage. */
export function peakBound(
  input: BoundInput,
  loads: readonly StageLoad[],
): { peakBytes: number; residentBytes: number } {
  let peakBytes = 0;
  let residentBytes = 0;
  for (let stage = 0; stage < loads.length; stage++) {
    // Of stages that hold the same, the first keeps the most micro-batches in flight.
    if (stage > 0 && loads[stage] === loads[stage - 1]) continue;
    const state = stateBytes(input, loads[stage] as StageLoad);
    const bytes = state + workingBytes(input, stage);
    if (bytes > peakBytes) {
      peakBytes = bytes;
      residentBytes = state;
    }
  }
  return { peakBytes, residentBytes };
}

/** Weights, gradients and optimizer of a stage, without padding. */
function stateBytes({ layout, weightType, optimizerTensors }: BoundInput, load: StageLoad): number {
  const sharded = isSharded(layout);
  const shard = sharded ? layout.data : 1;
  const weights = sharded && layout.sharding === 3 ? load.elements / shard : load.elements;
  const apart = sharded && layout.sharding >= 2;
  const gradients = apart ? load.elements / shard + (reducesEachMicroBatch(layout) ? 0 : load.elements) : load.elements;
  return (
    weights * bytesOf(weightType) +
    gradients * bytesOf(layout.gradientType) +
    (load.elements / shard) * 4 * optimizerTensors
  );
}

/** Activations, gathered units and gradients at the fullest forward and the first backward of the steady state. */
function workingBytes(input: BoundInput, stage: number): number {
  const { layout, blocks } = input;
  const { pipeline, chunks, layersPerStage } = layout;
  const ahead = forwardsAhead(input, stage);
  let live = 0;
  for (let turn = 0; turn < ahead; turn++) {
    const chunk = chunks === 1 ? 0 : Math.floor(turn / pipeline) % chunks;
    // Turns of one group visit a chunk `pipeline` times in a row.
    const turns = chunks === 1 ? ahead : Math.min(pipeline, ahead - turn);
    live += turns * keptBytes(input, chunk * pipeline + stage);
    turn += turns - 1;
  }
  const next = chunks === 1 ? 0 : Math.floor(ahead / pipeline) % chunks;
  const position = next * pipeline + stage;
  const layers = layersPerStage[position] ?? 0;
  const embed = position === 0;
  const head = position === pipeline * chunks - 1;
  const border = embed ? 0 : blocks.borderBytes;
  const { layerForward, headForward, headBackward, layerBackward, embedForward } = blocks.calls;
  const start = live + border + (embed ? embedForward.memory.net : 0);
  const window = gatheredBytes(input, layers);
  const beforeLast = start + Math.max(0, layers - 1 - window.units) * layerForward.memory.net;
  let peak = Math.max(
    beforeLast + peakOf(layerForward, window.bytes, 0),
    start + (layers - 1) * layerForward.memory.net + peakOf(layerForward, 0, 0),
  );
  const full = start + layers * layerForward.memory.net;
  if (head) {
    peak = Math.max(peak, full + peakOf(headForward, 0, 0), full + headForward.memory.net + peakOf(headBackward, 0, 0));
  } else if (chunks === 1) {
    const gradients = reducesEachMicroBatch(layout) ? bucketBytes(input) : 0;
    peak = Math.max(peak, full + peakOf(layerBackward, window.bytes, gradients));
  }
  return peak;
}

/** Forwards that are alive when a stage has filled up and runs one more. */
function forwardsAhead({ layout, microBatches }: BoundInput, stage: number): number {
  const { pipeline, chunks } = layout;
  switch (layout.schedule) {
    case 'none':
    case 'naive':
      return 0;
    case 'gpipe':
      return microBatches - 1;
    case '1f1b':
      return Math.min(pipeline - stage - 1, microBatches - 1);
    case 'interleaved-1f1b':
      return Math.min((pipeline - stage - 1) * 2 + (chunks - 1) * pipeline, chunks * microBatches - 1);
  }
}

/** What one forward of a chunk leaves behind, its input included, its sent output not. */
function keptBytes({ layout, blocks }: BoundInput, position: number): number {
  const { embedForward, layerForward, headForward } = blocks.calls;
  const embed = position === 0;
  const head = position === layout.pipeline * layout.chunks - 1;
  return (
    (layout.layersPerStage[position] ?? 0) * layerForward.memory.net +
    (embed ? embedForward.memory.net : blocks.borderBytes) +
    (head ? headForward.memory.net : -blocks.borderBytes)
  );
}

/** Gathered layers that are whole at a time, as far as one chunk surely holds them. */
function gatheredBytes({ layout, counts, weightType }: BoundInput, layers: number): { units: number; bytes: number } {
  if (layout.data === 1 || layout.sharding !== 3) return { units: 0, bytes: 0 };
  const units = Math.min(layout.prefetch, Math.max(0, layers - 1));
  return { units, bytes: (units + 1) * sizeOf(counts.layer) * bytesOf(weightType) };
}

/** The gradients of one layer, which a bucket holds at least. */
const bucketBytes = ({ layout, counts }: BoundInput): number => sizeOf(counts.layer) * bytesOf(layout.gradientType);

/** Highest live bytes of a call: gathered weights go with their last read, gradients come with their first write. */
function peakOf({ memory }: BlockPrice, weights: number, gradients: number): number {
  let extra = weights;
  let peak = Number.NEGATIVE_INFINITY;
  for (let part = 0; part < memory.peaks.length; part++) {
    const here = (memory.peaks[part] as number) + extra;
    if (here > peak) peak = here;
    if (memory.events[part] === 'free-own') extra -= weights;
    if (memory.events[part] === 'allocate-own') extra += gradients;
  }
  return peak;
}
