/** @file A lower bound on the memory of each stage: live bytes at moments that the schedule passes through. */
import { isSharded, reducesEachMicroBatch, shardsOfBucket } from '../../compile/index.ts';
import type { Layout } from '../../layout/index.ts';
import { placementOf } from '../../schedules/index.ts';
import { bytesOf } from '../../tensor/index.ts';
import type { BlockPrice, LayerPrice } from '../blocks.ts';
import type { LayerRow, LayerRun } from '../rows.ts';
import { type StageContent, sizeOf } from './load.ts';
import type { BoundInput } from './time.ts';

/** Weights, gradients and optimizer of some stages, without padding. */
export function stateOfStages(
  { weightType, optimizerTensors }: Pick<BoundInput, 'weightType' | 'optimizerTensors'>,
  layout: Layout,
  { all, distinct }: { readonly all: readonly StageContent[]; readonly distinct: readonly number[] },
): readonly number[] {
  const input = { layout, weightType, optimizerTensors };
  const bytes: number[] = [];
  for (const stage of distinct) {
    const { elements, expertElements, frozenElements, frozenExpertElements } = all[stage] as StageContent;
    const experts = expertElements > 0 ? bytesOfState(input, expertElements, { experts: true }) : 0;
    const frozen = frozenElements > 0 ? bytesOfFrozen(input, frozenElements, {}) : 0;
    const frozenExperts = frozenExpertElements > 0 ? bytesOfFrozen(input, frozenExpertElements, { experts: true }) : 0;
    bytes.push(bytesOfState(input, elements, {}) + experts + frozen + frozenExperts);
  }
  return bytes;
}

/** Weights that are not trained: sharding 3 cuts them. */
function bytesOfFrozen(
  { layout, weightType }: Pick<BoundInput, 'layout' | 'weightType'>,
  elements: number,
  bucket: { readonly experts?: true },
): number {
  const sharded = isSharded(layout, { ...bucket, frozen: true });
  return (sharded ? elements / shardsOfBucket(bucket, layout) : elements) * bytesOf(weightType);
}

function bytesOfState(
  { layout, weightType, optimizerTensors }: Pick<BoundInput, 'layout' | 'weightType' | 'optimizerTensors'>,
  elements: number,
  bucket: { readonly experts?: true },
): number {
  const sharded = isSharded(layout, bucket);
  const shard = sharded ? shardsOfBucket(bucket, layout) : 1;
  const weights = sharded && layout.sharding === 3 ? elements / shard : elements;
  const apart = sharded && layout.sharding >= 2;
  const gradients = apart ? elements / shard + (reducesEachMicroBatch(layout, bucket) ? 0 : elements) : elements;
  return (
    weights * bytesOf(weightType) +
    gradients * bytesOf(layout.gradientType) +
    (layout.offload === 'optimizer' ? 0 : (elements / shard) * 4 * optimizerTensors)
  );
}

/** A stage that has filled up and runs one more forward, whatever the data axis adds. */
export interface Filled {
  readonly row: LayerRow;
  /** Live bytes at the highest moment of that forward, behind it, and at the loss where it makes one. */
  readonly peak: number;
  readonly full: number;
  readonly loss: number | undefined;
}

/** What stages hold at the fullest forward of the steady state. */
export function filledStages(input: BoundInput, stages: readonly number[]): readonly Filled[] {
  return stages.map((stage) => filledStage(input, stage));
}

function filledStage(input: BoundInput, stage: number): Filled {
  const { layout, blocks, rows } = input;
  const { pipeline } = layout;
  const ahead = forwardsAhead(input, stage);
  // Where stages fold, they fill up with their first chunk.
  const chunks = isFolded(layout) ? 1 : layout.chunks;
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
  const row = rows[position] as LayerRow;
  const embed = position === 0;
  const head = position === rows.length - 1;
  const start = live + (embed ? 0 : blocks.borderBytes);
  const { net, rise } = blocks.bytes('F', row, embed, head);
  const full = start + net;
  const { headForward, headBackward } = blocks.ends;
  return {
    row,
    peak: start + rise,
    full: head ? full - headForward.memory.net : full,
    loss: head ? full + peakOf(headBackward, 0, 0) : undefined,
  };
}

/** Activations, gathered units and gradients at the fullest forward and the first backward of the steady state. */
export const workingOfStages = (input: BoundInput, stages: readonly Filled[]): readonly number[] =>
  stages.map((filled) => workingOf(input, filled));

function workingOf(input: BoundInput, { row, peak, full, loss }: Filled): number {
  const { layout, blocks } = input;
  const gathering = Math.max(peak, beforeWindow(input, row, full));
  if (loss !== undefined) return Math.max(gathering, loss);
  if (layout.chunks > 1) return gathering;
  const gradients = reducesEachMicroBatch(layout) ? lastElements(input, row, 1) * bytesOf(layout.gradientType) : 0;
  const backward = blocks.call('I', row.last) ?? (blocks.layers[row.last] as LayerPrice).backward;
  return Math.max(gathering, full + peakOf(backward, gatheredBytes(input, row), gradients));
}

/** Live bytes at the layer that runs while all that follow it are gathered; `full` is what lives behind the last one. */
function beforeWindow(input: BoundInput, row: LayerRow, full: number): number {
  const { layers } = input.blocks;
  let bytes = full;
  let left = Math.min(row.length, 1 + gatheredUnits(input, row));
  for (let index = row.runs.length - 1; index >= 0; index--) {
    const { kind, count } = row.runs[index] as LayerRun;
    const { forward } = layers[kind] as LayerPrice;
    bytes -= Math.min(left, count) * forward.memory.net;
    left -= count;
    if (left <= 0) return bytes + peakOf(forward, gatheredBytes(input, row), 0);
  }
  return bytes;
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
    case 'zero-bubble-h1':
      return Math.min(pipeline - stage, microBatches) - 1;
    case 'zero-bubble-h2':
    case 'zero-bubble-v':
      return Math.min(2 * (pipeline - stage) - 1, microBatches) - 1;
    case 'dualpipe-v':
      return 2 * (pipeline - stage - 1);
    case 'dualpipe':
      return 0;
  }
}

const isFolded = ({ schedule }: BoundInput['layout']): boolean => placementOf(schedule) === 'fold';

/** What one forward of a chunk leaves behind, its input included, its sent output not. */
function keptBytes({ blocks, rows }: BoundInput, position: number): number {
  const embed = position === 0;
  const head = position === rows.length - 1;
  const { net } = blocks.bytes('F', rows[position] as LayerRow, embed, head);
  return net + (embed ? 0 : blocks.borderBytes) - (head ? 0 : blocks.borderBytes);
}

/** Layers that are gathered ahead, as far as one chunk surely holds them. */
const gatheredUnits = ({ layout }: BoundInput, row: LayerRow): number =>
  layout.sharding !== 3 ? 0 : Math.min(layout.prefetch, Math.max(0, row.length - 1));

/** Weights of a layer and of those that are gathered ahead of it, at the end of a row. */
function gatheredBytes(input: BoundInput, row: LayerRow): number {
  const { layout, weightType } = input;
  if (layout.sharding !== 3) return 0;
  return lastElements(input, row, 1 + gatheredUnits(input, row)) * bytesOf(weightType);
}

/** Parameters of the last `count` layers of a row. */
function lastElements({ blocks, counts }: BoundInput, { runs }: LayerRow, count: number): number {
  let elements = 0;
  let left = count;
  for (let index = runs.length - 1; index >= 0 && left > 0; index--) {
    const run = runs[index] as LayerRun;
    const { first } = blocks.layers[run.kind] as LayerPrice;
    elements += Math.min(left, run.count) * sizeOf(counts.layers[first]);
    left -= run.count;
  }
  return elements;
}

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
