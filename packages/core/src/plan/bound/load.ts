/** @file What a stage does for one micro-batch, as plain numbers: the terms of the bound.
 *
 * Seconds are entries of block matrices, so each is the length of a path that the walk contains.
 */
import type { ParameterCounts } from '../../compile/index.ts';
import { type BlockMatrix, ENTRY, EXIT, entryOf } from '../../cost/index.ts';
import type { Layout } from '../../layout/index.ts';
import type { BlockPrices } from '../blocks.ts';

export interface StageLoad {
  /** Compute lane for one micro-batch: all chunks, both directions. */
  readonly computeSeconds: number;
  /** Host for one micro-batch, transfers included. */
  readonly hostSeconds: number;
  /** First chunk forward, from its input (or the start) to its output. */
  readonly firstForward: number;
  /** First chunk backward, from its gradient to the end of its compute. */
  readonly firstBackward: number;
  /** First chunk backward on the compute lane. */
  readonly lastBackward: number;
  /** First chunk forward on the compute lane. */
  readonly openForward: number;
  /** Parameters on one rank. */
  readonly elements: number;
  /** Of the embedding block without the tied matrix; 0 on other stages. */
  readonly embedElements: number;
  readonly layers: number;
  /** Layers of the first chunk. */
  readonly firstLayers: number;
  /** The first chunk holds the head too. */
  readonly headInFirst: boolean;
}

/** Seconds on the way from an entry clock to an exit clock; 0 where none leads. */
export const way = (matrix: BlockMatrix, from: number, to: number): number => {
  const seconds = entryOf(matrix, to, from);
  return seconds === Number.NEGATIVE_INFINITY ? 0 : seconds;
};

export const sizeOf = (count: { readonly summed: number; readonly rest: number } | undefined): number =>
  count === undefined ? 0 : count.summed + count.rest;

/** Loads of all stages; neighbours that hold the same share one. */
export function stageLoads(
  layout: Layout,
  counts: ParameterCounts,
  blocks: BlockPrices,
  launchExchange: number,
): readonly StageLoad[] {
  const loads: StageLoad[] = [];
  for (let stage = 0; stage < layout.pipeline; stage++) {
    const before = loads[stage - 1];
    loads.push(
      before !== undefined && sameAsBefore(layout, stage)
        ? before
        : stageLoad(layout, counts, blocks, launchExchange, stage),
    );
  }
  return loads;
}

/** Whether an inner stage holds as many layers in each chunk as the one before it. */
function sameAsBefore({ pipeline, chunks, layersPerStage }: Layout, stage: number): boolean {
  if (stage < 2 || stage === pipeline - 1) return false;
  for (let chunk = 0; chunk < chunks; chunk++) {
    const position = chunk * pipeline + stage;
    if (layersPerStage[position] !== layersPerStage[position - 1]) return false;
  }
  return true;
}

function stageLoad(
  { pipeline, chunks, layersPerStage }: Layout,
  counts: ParameterCounts,
  blocks: BlockPrices,
  launchExchange: number,
  stage: number,
): StageLoad {
  const positions = pipeline * chunks;
  let computeSeconds = 0;
  let hostSeconds = 0;
  let layers = 0;
  for (let chunk = 0; chunk < chunks; chunk++) {
    const position = chunk * pipeline + stage;
    const count = layersPerStage[position] ?? 0;
    const embed = position === 0;
    const head = position === positions - 1;
    const forward = blocks.chunk('F', count, embed, head);
    const backward = blocks.chunk('B', count, embed, head);
    computeSeconds += way(forward, ENTRY.compute, EXIT.compute) + way(backward, ENTRY.compute, EXIT.compute);
    hostSeconds += way(forward, ENTRY.host, EXIT.host) + way(backward, ENTRY.host, EXIT.host);
    hostSeconds += launchExchange * ((embed ? 0 : 2) + (head ? 0 : 2));
    layers += count;
  }
  const embed = stage === 0;
  const last = stage === pipeline - 1;
  const first = layersPerStage[stage] ?? 0;
  const forward = blocks.chunk('F', first, embed, positions === 1);
  const backward = blocks.chunk('B', first, embed, positions === 1);
  const embedElements = embed ? sizeOf(counts.embed) : 0;
  const ends = embedElements + (last ? sizeOf(counts.head) : 0) + (embed || last ? sizeOf(counts.tied) : 0);
  return {
    computeSeconds,
    hostSeconds,
    firstForward: embed
      ? Math.max(way(forward, ENTRY.compute, EXIT.output), way(forward, ENTRY.host, EXIT.output))
      : way(forward, ENTRY.input, EXIT.output),
    firstBackward: way(backward, ENTRY.input, EXIT.compute),
    lastBackward: way(backward, ENTRY.compute, EXIT.compute),
    openForward: way(forward, ENTRY.compute, EXIT.compute),
    elements: layers * sizeOf(counts.layer) + ends,
    embedElements,
    layers,
    firstLayers: first,
    headInFirst: last && chunks === 1,
  };
}
