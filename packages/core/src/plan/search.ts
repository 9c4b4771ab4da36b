/** @file Finds the best layouts: bounds all legal ones, evaluates in order of bound until no remaining bound can win.
 *
 * Because a bound never exceeds its evaluation, the best layouts of the whole space are then known, not guessed.
 */
import type { Job } from '../job/index.ts';
import { type Layout, layoutSpace, type RejectedLayouts } from '../layout/index.ts';
import { boundBook } from './bound/index.ts';
import { createEvaluator, type Evaluation, type Evaluator, evaluateStep } from './evaluate/index.ts';
import { splitCosts } from './split-costs.ts';
import { deviceMemory, type Verdict, worstVerdict } from './verdict.ts';

export interface Candidate {
  readonly layout: Layout;
  readonly evaluation: Evaluation;
  readonly verdict: Verdict;
}

export interface SearchResult {
  /** Legal and illegal combinations. */
  readonly considered: number;
  readonly legal: number;
  /** By the first rule that they break; `OUT_OF_MEMORY` and `MEMORY_AT_RISK` count what was bounded or evaluated. */
  readonly rejected: RejectedLayouts;
  readonly evaluated: number;
  /** No layout of the space evaluates faster than the first of `best` and fits. */
  readonly proven: boolean;
  /** The best layout of each split (degrees), fastest first; only layouts that fit. */
  readonly best: readonly Candidate[];
  /** Layouts that fit only if the assumptions are kind, fastest first; looked at when nothing else fits. */
  readonly atRisk: readonly Candidate[];
  /** The layout with the smallest lower bound on memory, when none fits. */
  readonly leastMemory: { readonly layout: Layout; readonly peakBytes: number } | undefined;
  readonly evaluator: Evaluator;
}

export interface SearchOptions {
  /** How many splits are to be known with their best layout. */
  readonly top: number;
  readonly onProgress?: (done: number, total: number, phase: 'bound' | 'evaluate') => void;
}

export function searchLayouts(job: Job, options: SearchOptions): SearchResult {
  const evaluator = createEvaluator(job);
  const space = layoutSpace(job, job.layout, splitCosts(job));
  const bounded = boundAll(evaluator, space.layouts(), space.legal, options);
  const found = evaluateInOrder(evaluator, bounded.candidates, options);
  const outOfMemory = bounded.tooLarge + found.tooLarge;
  return {
    considered: space.considered,
    legal: space.legal,
    rejected: {
      ...space.rejected,
      ...(outOfMemory > 0 && { OUT_OF_MEMORY: outOfMemory }),
      ...(found.atRisk.length > 0 && { MEMORY_AT_RISK: found.atRisk.length }),
    },
    evaluated: found.evaluated,
    proven: found.best.length > 0,
    best: found.best,
    atRisk: found.atRisk,
    leastMemory: bounded.leastMemory,
    evaluator,
  };
}

interface Bounded {
  readonly layout: Layout;
  readonly seconds: number;
}

function boundAll(evaluator: Evaluator, layouts: Iterable<Layout>, legal: number, { onProgress }: SearchOptions) {
  const candidates: Bounded[] = [];
  let tooLarge = 0;
  let done = 0;
  let leastMemory: SearchResult['leastMemory'];
  const boundOf = boundBook(evaluator);
  for (const layout of layouts) {
    const bound = boundOf(layout);
    if (leastMemory === undefined || bound.peakBytes < leastMemory.peakBytes) {
      leastMemory = { layout, peakBytes: bound.peakBytes };
    }
    const { verdict } = deviceMemory(evaluator.job, layout, bound.peakBytes, bound.residentBytes);
    if (verdict === 'does-not-fit') tooLarge += 1;
    else candidates.push({ layout, seconds: bound.seconds });
    done += 1;
    if (done % 4096 === 0) onProgress?.(done, legal, 'bound');
  }
  candidates.sort((a, b) => a.seconds - b.seconds);
  return { candidates, tooLarge, leastMemory };
}

/** Evaluates in order of bound, and keeps the best layout of each split.
 *
 * A layout is left out when its bound is not below the best of its split; all that follow are, once `top` splits are
 * known and the bound is not below the last of them.
 */
function evaluateInOrder(evaluator: Evaluator, candidates: readonly Bounded[], { top, onProgress }: SearchOptions) {
  const best: Candidate[] = [];
  const atRisk: Candidate[] = [];
  let tooLarge = 0;
  let evaluated = 0;
  for (const { layout, seconds } of candidates) {
    const last = best[top - 1];
    if (last !== undefined && seconds >= last.evaluation.seconds) break;
    const sibling = best.find((each) => sameSplit(each.layout, layout));
    if (sibling !== undefined && seconds >= sibling.evaluation.seconds) continue;
    const candidate = evaluateLayout(evaluator, layout);
    evaluated += 1;
    if (evaluated % 64 === 0) onProgress?.(evaluated, candidates.length, 'evaluate');
    if (candidate.verdict === 'does-not-fit') tooLarge += 1;
    else if (candidate.verdict === 'at-risk') insert(atRisk, candidate);
    else if (sibling === undefined || candidate.evaluation.seconds < sibling.evaluation.seconds) {
      if (sibling !== undefined) best.splice(best.indexOf(sibling), 1);
      insert(best, candidate);
      if (best.length > top) best.pop();
    }
  }
  return { best, atRisk, tooLarge, evaluated };
}

/** Layouts that split the ranks alike: they differ in schedule, sharding, recomputation and the like. */
const sameSplit = (a: Layout, b: Layout): boolean =>
  a.tensor === b.tensor && a.pipeline === b.pipeline && a.data === b.data && a.context === b.context;

/** Evaluates one layout: time, and memory of every stage with its verdict. */
export function evaluateLayout(evaluator: Evaluator, layout: Layout): Candidate {
  const spec = evaluator.specOf(layout);
  const evaluation = evaluateStep(spec, evaluator.orderOf(layout));
  const verdicts = spec.stages.map(
    (stage, index) =>
      deviceMemory(evaluator.job, layout, evaluation.peakBytes[index] ?? 0, stage.residentBytes).verdict,
  );
  return { layout, evaluation, verdict: worstVerdict(verdicts) };
}

/** Keeps a list sorted by time; of equal times the earlier one stays first. */
function insert(list: Candidate[], candidate: Candidate): void {
  let at = list.length;
  while (at > 0 && (list[at - 1] as Candidate).evaluation.seconds > candidate.evaluation.seconds) at -= 1;
  list.splice(at, 0, candidate);
}
