/** @file What a stage does for one micro-batch, as plain numbers: the terms of the bound.
 *
 * Seconds are entries of block matrices, so each is the length of a path that the walk contains.
 */
import { type BlockCount, backwardOf, type ParameterCounts } from '../../compile/index.ts';
import { type BlockMatrix, ENTRY, EXIT, entryOf } from '../../cost/index.ts';
import type { Layout } from '../../layout/index.ts';
import { chunksHeld, placementOf, positionOf } from '../../schedules/index.ts';
import type { BlockPrices } from '../blocks.ts';
import type { LayerRow, LayerRun } from '../rows.ts';
import type { Pass } from '../sample.ts';

/** What a stage holds, whatever it takes. */
export interface StageContent {
  /** Trained parameters on one rank, without experts over a grid of their own; and those. */
  readonly elements: number;
  readonly expertElements: number;
  /** The same of what is not trained, which is in neither. */
  readonly frozenElements: number;
  readonly frozenExpertElements: number;
  /** Of the embedding block without the tied matrix, as far as trained; 0 on other stages. */
  readonly embedElements: number;
  /** Layers of all chunks. */
  readonly runs: readonly LayerRun[];
  /** Layers of the first chunk. */
  readonly firstRow: LayerRow;
  /** The first chunk holds the head too. */
  readonly headInFirst: boolean;
}

export interface StageLoad extends StageContent {
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
}

/** Seconds on the way from an entry clock to an exit clock; 0 where none leads. */
export const way = (matrix: BlockMatrix, from: number, to: number): number => {
  const seconds = entryOf(matrix, to, from);
  return seconds === Number.NEGATIVE_INFINITY ? 0 : seconds;
};

export const sizeOf = (count: { readonly summed: number; readonly rest: number } | undefined): number =>
  count === undefined ? 0 : count.summed + count.rest;

/** What the contents of stages are made of. */
export interface ContentInput {
  readonly layout: Layout;
  readonly rows: readonly LayerRow[];
  readonly counts: ParameterCounts;
  /** Of each kind of layers, the first. */
  readonly kinds: readonly { readonly first: number }[];
}

/** Contents of all stages; neighbours that hold the same share one. */
export function stageContents(input: ContentInput): readonly StageContent[] {
  const contents: StageContent[] = [];
  for (let stage = 0; stage < input.layout.pipeline; stage++) {
    const before = contents[stage - 1];
    contents.push(before !== undefined && sameAsBefore(input, stage) ? before : stageContent(input, stage));
  }
  return contents;
}

/** Layers of each kind in the whole model, which two copies hold twice. */
export function layersOfKind(
  contents: readonly StageContent[],
  placement: ReturnType<typeof placementOf>,
): readonly number[] {
  const counts: number[] = [];
  const share = copyShare(placement);
  for (const { runs } of contents) {
    for (const { kind, count } of runs) counts[kind] = (counts[kind] ?? 0) + share * count;
  }
  return counts;
}

/** Of two copies of the model each sees half of the micro-batches. */
const copyShare = (placement: ReturnType<typeof placementOf>): number => (placement === 'mirror' ? 0.5 : 1);

const inOne: readonly Pass[] = ['F', 'B'];
const inParts: readonly Pass[] = ['F', 'I', 'W'];

/** Passes of one micro-batch. */
export const passesOf = (layout: Layout): readonly Pass[] =>
  backwardOf(layout.schedule) === 'split' ? inParts : inOne;

/** What loads are made of. */
export interface LoadInput {
  readonly layout: Layout;
  readonly rows: readonly LayerRow[];
  readonly contents: readonly StageContent[];
  readonly blocks: BlockPrices;
  readonly launchExchange: number;
}

/** Loads of all stages; neighbours that hold the same share one. */
export function stageLoads(input: LoadInput): readonly StageLoad[] {
  const loads: StageLoad[] = [];
  for (let stage = 0; stage < input.contents.length; stage++) {
    const alike = stage > 0 && input.contents[stage] === input.contents[stage - 1];
    loads.push(alike ? (loads[stage - 1] as StageLoad) : stageLoad(input, stage));
  }
  return loads;
}

/** Whether an inner stage holds the same row of layers in each chunk as the one before it. */
function sameAsBefore({ layout, rows }: ContentInput, stage: number): boolean {
  const { pipeline, chunks } = layout;
  if (stage < 2 || stage === pipeline - 1 || placementOf(layout.schedule) !== 'line') return false;
  for (let chunk = 0; chunk < chunks; chunk++) {
    const position = chunk * pipeline + stage;
    if (rows[position] !== rows[position - 1]) return false;
  }
  return true;
}

function stageContent({ layout, rows, counts, kinds }: ContentInput, stage: number): StageContent {
  const runs: LayerRun[] = [];
  let hasEmbed = false;
  let hasHead = false;
  for (let chunk = 0; chunk < chunksHeld(layout); chunk++) {
    const position = positionOf(layout, stage, chunk);
    hasEmbed ||= position === 0;
    hasHead ||= position === rows.length - 1;
    runs.push(...(rows[position] as LayerRow).runs);
  }
  const embedElements = hasEmbed ? sizeOf(counts.embed) : 0;
  const ends = embedElements + (hasHead ? sizeOf(counts.head) : 0) + (hasEmbed || hasHead ? sizeOf(counts.tied) : 0);
  const frozenOf = (count: BlockCount | undefined): number => count?.frozen ?? 0;
  const frozenEnds =
    (hasEmbed ? frozenOf(counts.embed) : 0) +
    (hasHead ? frozenOf(counts.head) : 0) +
    (hasEmbed || hasHead ? frozenOf(counts.tied) : 0);
  return {
    frozenElements: sumOver(runs, kinds, counts, frozenOf) + frozenEnds,
    frozenExpertElements: sumOver(runs, kinds, counts, (count) => count?.frozenExperts ?? 0),
    elements: layerElements(runs, kinds, counts) + ends,
    expertElements: expertsOf(runs, kinds, counts),
    embedElements,
    runs: joined(runs),
    firstRow: rows[stage] as LayerRow,
    headInFirst: stage === rows.length - 1,
  };
}

function stageLoad({ layout, rows, contents, blocks, launchExchange }: LoadInput, stage: number): StageLoad {
  const chunks = chunksHeld(layout);
  const positions = rows.length;
  const placement = placementOf(layout.schedule);
  const share = copyShare(placement);
  const isSplit = backwardOf(layout.schedule) === 'split';
  const passes = passesOf(layout);
  let computeSeconds = 0;
  let hostSeconds = 0;
  for (let chunk = 0; chunk < chunks; chunk++) {
    const position = positionOf(layout, stage, chunk);
    const row = rows[position] as LayerRow;
    const embed = position === 0;
    const head = position === positions - 1;
    for (const pass of passes) {
      const matrix = blocks.chunk(pass, row, embed, head);
      computeSeconds += share * way(matrix, ENTRY.compute, EXIT.compute);
      hostSeconds += share * way(matrix, ENTRY.host, EXIT.host);
    }
    // Where stages fold, two chunks of one stage hand over without an exchange.
    const folds = chunks > 1 && placement === 'fold' && stage === layout.pipeline - 1;
    hostSeconds += share * launchExchange * (folds ? 2 : (embed ? 0 : 2) + (head ? 0 : 2));
  }
  const embed = stage === 0;
  const content = contents[stage] as StageContent;
  const forward = blocks.chunk('F', content.firstRow, embed, positions === 1);
  const backward = blocks.chunk(isSplit ? 'I' : 'B', content.firstRow, embed, positions === 1);
  const ending = blocks.chunk(isSplit ? 'W' : 'B', content.firstRow, embed, positions === 1);
  return {
    ...content,
    computeSeconds,
    hostSeconds,
    firstForward: embed
      ? Math.max(way(forward, ENTRY.compute, EXIT.output), way(forward, ENTRY.host, EXIT.output))
      : way(forward, ENTRY.input, EXIT.output),
    firstBackward: way(backward, ENTRY.input, EXIT.compute),
    lastBackward: way(ending, ENTRY.compute, EXIT.compute),
    openForward: way(forward, ENTRY.compute, EXIT.compute),
  };
}

/** Runs of one kind as one. */
function joined(runs: readonly LayerRun[]): readonly LayerRun[] {
  const counts = new Map<number, number>();
  for (const { kind, count } of runs) counts.set(kind, (counts.get(kind) ?? 0) + count);
  return [...counts].map(([kind, count]) => ({ kind, count }));
}

/** Trained parameters of layers on one rank. */
export const layerElements = (
  runs: readonly LayerRun[],
  kinds: ContentInput['kinds'],
  counts: ParameterCounts,
): number => sumOver(runs, kinds, counts, sizeOf);

/** Trained experts of layers on one rank, where they have a grid of their own. */
export const expertsOf = (runs: readonly LayerRun[], kinds: ContentInput['kinds'], counts: ParameterCounts): number =>
  sumOver(runs, kinds, counts, (count) => count?.experts ?? 0);

function sumOver(
  runs: readonly LayerRun[],
  kinds: ContentInput['kinds'],
  counts: ParameterCounts,
  of: (count: BlockCount | undefined) => number,
): number {
  let sum = 0;
  for (const { kind, count } of runs) sum += count * of(counts.layers[kinds[kind]?.first ?? 0]);
  return sum;
}
