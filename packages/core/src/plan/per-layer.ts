/** @file Layers that recompute by need: of layouts that recompute every layer, the ones with as few recomputed layers as their
 * stages have room for. Stages differ in what they hold, so each has its own number of layers: the first ones of its chunks.
 */
import type { Job } from '../job/index.ts';
import { checkLayout, type LayerOverride, type Layout, normalizeLayout } from '../layout/index.ts';
import { chunksHeld, positionOf } from '../schedules/index.ts';
import { type Evaluator, evaluateStep } from './evaluate/index.ts';
import { type Candidate, evaluateLayout, type SearchResult, searchLayouts } from './search.ts';
import { deviceMemory } from './verdict.ts';

/** Micro-batches for which the best layouts that recompute everything are looked at, beside those of the whole space. */
const MICRO_BATCHES = [1, 2, 4, 8];

/** The result of a search with the best layouts that recompute some layers among its best ones. The first of them is never
 * slower than before: what recomputes fewer layers and is no faster is left out. Layouts that differ in their overrides only
 * are not all looked at, so that one is best of all is not proven. */
export function withFewerRecomputed(job: Job, result: SearchResult, top: number): SearchResult {
  const { layout: request } = job;
  if (request.layers !== undefined || (request.recompute ?? 'full') !== 'full') return result;
  const { evaluator } = result;
  const microBatches = request.microBatch === undefined ? [undefined, ...MICRO_BATCHES] : [undefined];
  const starts = microBatches.flatMap((microBatch) => {
    const fixed = { ...request, recompute: 'full' as const, ...(microBatch !== undefined && { microBatch }) };
    return searchLayouts({ ...job, layout: fixed }, { top, evaluator }).best;
  });
  const mended = starts.flatMap((start) => fewestRecomputed(evaluator, start) ?? []);
  const bySplit = new Map<string, Candidate>();
  for (const candidate of [...result.best, ...mended]) {
    const { tensor, pipeline, data, context } = candidate.layout;
    const name = [tensor, pipeline, data, context].join();
    const known = bySplit.get(name);
    if (known === undefined || candidate.evaluation.seconds < known.evaluation.seconds) bySplit.set(name, candidate);
  }
  const best = [...bySplit.values()].sort((a, b) => a.evaluation.seconds - b.evaluation.seconds).slice(0, top);
  return { ...result, best, proven: result.proven && best.every(({ layout }) => layout.layers.length === 0) };
}

/** The candidate, which recomputes every layer and fits, with as few of them as fit; undefined where that is no faster, or not
 * what the job's framework can be asked for. */
function fewestRecomputed(evaluator: Evaluator, { layout, evaluation }: Candidate): Candidate | undefined {
  const { job } = evaluator;
  // Megatron-LM has one number for the chunks of all stages.
  const shared = job.framework === 'megatron' || job.framework === 'nemo';
  const most = Array.from({ length: layout.pipeline }, (_, stage) =>
    shared ? Math.max(...layout.layersPerStage) : layersOf(layout, stage),
  );
  const least = most.map(() => 0);
  const spread = (counts: readonly number[]): Layout =>
    recomputing(job, layout, shared ? layout.layersPerStage.map(() => counts[0] ?? 0) : overChunks(layout, counts));
  while (least.some((count, stage) => count < (most[stage] as number))) {
    const counts = least.map((count, stage) => Math.floor((count + (most[stage] as number)) / 2));
    const fits = stagesThatFit(evaluator, spread(counts));
    const all = fits.every((each) => each);
    counts.forEach((count, stage) => {
      if (shared ? all : fits[stage]) most[stage] = count;
      else least[stage] = Math.min(count + 1, most[stage] as number);
    });
  }
  const mended = spread(most);
  if (mended.layers.length === 0 && mended.recompute === 'full') return undefined;
  if (checkLayout(job, mended).some(({ severity }) => severity === 'error')) return undefined;
  const candidate = evaluateLayout(evaluator, mended);
  const isBetter = candidate.verdict === 'fits' && candidate.evaluation.seconds < evaluation.seconds;
  return isBetter ? candidate : undefined;
}

const positionsOf = (layout: Layout, stage: number): readonly number[] =>
  Array.from({ length: chunksHeld(layout) }, (_, chunk) => positionOf(layout, stage, chunk));

const layersOf = (layout: Layout, stage: number): number =>
  positionsOf(layout, stage).reduce((sum, position) => sum + (layout.layersPerStage[position] ?? 0), 0);

/** Recomputed layers of each chunk in model order: those of a stage fill its chunks one after the other. Where two stages hold
 * one chunk, the more.
 */
function overChunks(layout: Layout, counts: readonly number[]): readonly number[] {
  const ofPosition = layout.layersPerStage.map(() => 0);
  counts.forEach((count, stage) => {
    let left = count;
    for (const position of positionsOf(layout, stage)) {
      const taken = Math.min(left, layout.layersPerStage[position] ?? 0);
      ofPosition[position] = Math.max(ofPosition[position] ?? 0, taken);
      left -= taken;
    }
  });
  return ofPosition;
}

/** The layout with so many first layers of each chunk recomputed and the others kept. */
function recomputing(job: Job, layout: Layout, ofPosition: readonly number[]): Layout {
  let from = 0;
  const layers = layout.layersPerStage.flatMap((length, position): readonly LayerOverride[] => {
    const first = from;
    from += length;
    const count = Math.min(length, ofPosition[position] ?? 0);
    return count === 0 ? [] : [{ from: first, to: first + count - 1, recompute: 'full' }];
  });
  return normalizeLayout(job, { ...layout, recompute: 'none', layers });
}

function stagesThatFit(evaluator: Evaluator, layout: Layout): readonly boolean[] {
  const spec = evaluator.specOf(layout);
  const { peakBytes } = evaluateStep(spec, evaluator.orderOf(layout));
  return spec.stages.map(
    ({ residentBytes }, stage) =>
      deviceMemory(evaluator.job, layout, peakBytes[stage] ?? 0, residentBytes).verdict === 'fits',
  );
}
