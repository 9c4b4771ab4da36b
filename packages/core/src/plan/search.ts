/** @file Finds the best layouts: bounds all legal ones, evaluates in order of bound until no remaining bound can win.
 *
 * Because a bound never exceeds its evaluation, the best layouts of the whole space are then known, not guessed. Best is
 * what takes the least time, or what needs the least memory and of that the least time.
 */
import { capacityBytes } from '../cluster/index.ts';
import type { Job } from '../job/index.ts';
import { type Layout, layoutSpace, type RejectedLayouts } from '../layout/index.ts';
import { type Bound, boundBook } from './bound/index.ts';
import { createEvaluator, type Evaluation, type Evaluator, evaluateStep } from './evaluate/index.ts';
import { layerFits } from './layer-fit.ts';
import { splitCosts } from './split-costs.ts';
import { deviceMemory, expectedBytes, type Verdict, worstVerdict } from './verdict.ts';

export interface Candidate {
  readonly layout: Layout;
  readonly evaluation: Evaluation;
  /** Of the fullest stage, as the device sees them. */
  readonly deviceBytes: number;
  readonly verdict: Verdict;
}

/** What layouts are ranked by. */
export type Ranking = 'time' | 'memory';

export interface SearchResult {
  /** Legal and illegal combinations. */
  readonly considered: number;
  readonly legal: number;
  /** By the first rule that they break; `LAYER_DOES_NOT_FIT`, `OUT_OF_MEMORY` and `MEMORY_AT_RISK` count what was bounded
   * or evaluated. */
  readonly rejected: RejectedLayouts;
  readonly evaluated: number;
  /** No layout of the space that fits ranks before the first of `best`. */
  readonly proven: boolean;
  /** The best layout of each split (degrees), best first; only layouts that fit. */
  readonly best: readonly Candidate[];
  /** Layouts that fit only if the assumptions are kind, best first; looked at when nothing else fits. */
  readonly atRisk: readonly Candidate[];
  /** The layout with the smallest lower bound on memory, when none fits. */
  readonly leastMemory: { readonly layout: Layout; readonly peakBytes: number } | undefined;
  readonly evaluator: Evaluator;
}

export interface SearchOptions {
  /** How many splits are to be known with their best layout. */
  readonly top: number;
  /** Default `time`. */
  readonly ranking?: Ranking;
  /** Layouts that are slower, in seconds of a step, are left out. */
  readonly slowest?: number;
  /** Candidates that are held before the first of them are evaluated: most of those that follow then cannot win. Default
   * 65,536, in spaces of more than four times that 4,096: small spaces are evaluated in order of bound throughout. */
  readonly held?: number;
  readonly onProgress?: (done: number, total: number, phase: 'bound' | 'evaluate') => void;
  /** Of the same job under any layout request: what other searches have priced is not priced again. */
  readonly evaluator?: Evaluator;
}

export function searchLayouts(job: Job, options: SearchOptions): SearchResult {
  const { evaluator = createEvaluator(job) } = options;
  const space = layoutSpace(job, job.layout, splitCosts(job));
  const { contest, ...bounded } = boundAll(evaluator, space.layouts(), space.legal, options);
  const outOfMemory = bounded.tooLarge + contest.tooLarge();
  return {
    considered: space.considered,
    legal: space.legal,
    rejected: {
      ...space.rejected,
      ...(bounded.layerTooLarge > 0 && { LAYER_DOES_NOT_FIT: bounded.layerTooLarge }),
      ...(outOfMemory > 0 && { OUT_OF_MEMORY: outOfMemory }),
      ...(contest.atRisk.length > 0 && { MEMORY_AT_RISK: contest.atRisk.length }),
    },
    evaluated: contest.evaluated(),
    proven: contest.best.length > 0,
    best: contest.best,
    atRisk: contest.atRisk,
    leastMemory: bounded.leastMemory,
    evaluator,
  };
}

/** What layouts are sorted by: the first number, and of equal ones the second. */
interface Rank {
  readonly first: number;
  readonly second: number;
}

const rankOf = (ranking: Ranking, seconds: number, deviceBytes: number): Rank =>
  ranking === 'time' ? { first: seconds, second: 0 } : { first: deviceBytes, second: seconds };

const isBefore = (one: Rank, other: Rank): boolean =>
  one.first < other.first || (one.first === other.first && one.second < other.second);

interface Bounded {
  readonly layout: Layout;
  readonly rank: Rank;
}

const HELD = 2 ** 16;
/** The same in spaces of many more legal layouts: what there is to beat is known before most blocks are priced. */
const HELD_OF_MANY = 2 ** 12;
const MANY = 4 * HELD;
/** Evaluations when so many are held, while nobody knows yet what there is to beat. */
const EARLY_EVALUATIONS = 512;

function boundAll(evaluator: Evaluator, layouts: Iterable<Layout>, legal: number, options: SearchOptions) {
  const { onProgress, ranking = 'time', slowest = Number.POSITIVE_INFINITY } = options;
  const { held = legal > MANY ? HELD_OF_MANY : HELD } = options;
  const contest = createContest(evaluator, options);
  let candidates: Bounded[] = [];
  let hold = held;
  let tooLarge = 0;
  let layerTooLarge = 0;
  let done = 0;
  let leastMemory: SearchResult['leastMemory'];
  const boundOf = boundBook(evaluator);
  const hasRoomForLayer = layerFits(evaluator);
  const capacity = capacityBytes(evaluator.job.cluster);
  /** Of what fits: whether it can be among the best. */
  const enter = (layout: Layout, bound: Bound, deviceBytes: number): void => {
    const canWin = (seconds: number): boolean =>
      seconds <= slowest && contest.canEnter(rankOf(ranking, seconds, deviceBytes));
    // The cheapest first.
    if (!canWin(bound.lightestSeconds) || !canWin(bound.floorSeconds) || !canWin(bound.computeSeconds)) return;
    const { seconds } = bound;
    if (canWin(seconds)) candidates.push({ layout, rank: rankOf(ranking, seconds, deviceBytes) });
  };
  /** Whether it may fit. */
  const weigh = (layout: Layout, bound: Bound): boolean => {
    const isTooLarge = (least: number): boolean =>
      expectedBytes(layout, least, least) > capacity && leastMemory !== undefined && least >= leastMemory.peakBytes;
    // The cheapest first: for their state alone blocks need no price. While nobody knows a layout that needs less, all do.
    if (isTooLarge(bound.stateBytes) || isTooLarge(bound.heldBytes)) return false;
    if (leastMemory === undefined || bound.peakBytes < leastMemory.peakBytes) {
      leastMemory = { layout, peakBytes: bound.peakBytes };
    }
    const deviceBytes = expectedBytes(layout, bound.peakBytes, bound.residentBytes);
    if (deviceBytes > capacity) return false;
    enter(layout, bound, Math.round(deviceBytes));
    return true;
  };
  for (const layout of layouts) {
    if (!weigh(layout, boundOf(layout))) {
      if (hasRoomForLayer(layout)) tooLarge += 1;
      else layerTooLarge += 1;
    }
    done += 1;
    if (done % 4096 === 0) onProgress?.(done, legal, 'bound');
    if (candidates.length >= hold) {
      candidates = contest.run(candidates, EARLY_EVALUATIONS);
      hold = Math.max(held, 2 * candidates.length);
    }
  }
  contest.run(candidates, Number.POSITIVE_INFINITY);
  return { contest, tooLarge, layerTooLarge, leastMemory };
}

/** Who is best so far, and of which splits. */
interface Contest {
  readonly best: readonly Candidate[];
  readonly atRisk: readonly Candidate[];
  readonly tooLarge: () => number;
  readonly evaluated: () => number;
  /** Whether a layout with this bound can still be among the best. */
  readonly canEnter: (rank: Rank) => boolean;
  /** Evaluates in order of bound, at most so many; gives those that were not looked at and can still enter. */
  readonly run: (candidates: Bounded[], most: number) => Bounded[];
}

/** Evaluates in order of bound, and keeps the best layout of each split.
 *
 * A layout is left out when its bound is not before the best of its split; all that follow are, once `top` splits are
 * known and the bound is not before the last of them.
 */
function createContest(evaluator: Evaluator, options: SearchOptions): Contest {
  const { top, onProgress, ranking = 'time', slowest = Number.POSITIVE_INFINITY } = options;
  const rankOfCandidate = ({ evaluation, deviceBytes }: Candidate): Rank =>
    rankOf(ranking, evaluation.seconds, deviceBytes);
  const best: Candidate[] = [];
  const atRisk: Candidate[] = [];
  let tooLarge = 0;
  let evaluated = 0;
  const canEnter = (rank: Rank): boolean => {
    const last = best[top - 1];
    return last === undefined || isBefore(rank, rankOfCandidate(last));
  };
  const enter = (candidate: Candidate, sibling: Candidate | undefined): void => {
    if (candidate.evaluation.seconds > slowest) return;
    if (candidate.verdict === 'does-not-fit') tooLarge += 1;
    else if (candidate.verdict === 'at-risk') insert(atRisk, candidate, rankOfCandidate);
    else if (sibling === undefined || isBefore(rankOfCandidate(candidate), rankOfCandidate(sibling))) {
      if (sibling !== undefined) best.splice(best.indexOf(sibling), 1);
      insert(best, candidate, rankOfCandidate);
      if (best.length > top) best.pop();
    }
  };
  const run = (candidates: Bounded[], most: number): Bounded[] => {
    candidates.sort((a, b) => a.rank.first - b.rank.first || a.rank.second - b.rank.second);
    const until = evaluated + most;
    let at = 0;
    for (; at < candidates.length && evaluated < until; at++) {
      const { layout, rank } = candidates[at] as Bounded;
      if (!canEnter(rank)) return [];
      const sibling = best.find((each) => sameSplit(each.layout, layout));
      if (sibling !== undefined && !isBefore(rank, rankOfCandidate(sibling))) continue;
      enter(evaluateLayout(evaluator, layout), sibling);
      evaluated += 1;
      if (evaluated % 64 === 0) onProgress?.(evaluated, candidates.length, 'evaluate');
    }
    return candidates.slice(at).filter(({ rank }) => canEnter(rank));
  };
  return { best, atRisk, tooLarge: () => tooLarge, evaluated: () => evaluated, canEnter, run };
}

/** Layouts that split the ranks alike: they differ in schedule, sharding, recomputation and the like. */
const sameSplit = (a: Layout, b: Layout): boolean =>
  a.tensor === b.tensor && a.pipeline === b.pipeline && a.data === b.data && a.context === b.context;

/** Evaluates one layout: time, and memory of every stage with its verdict. */
export function evaluateLayout(evaluator: Evaluator, layout: Layout): Candidate {
  const spec = evaluator.specOf(layout);
  const evaluation = evaluateStep(spec, evaluator.orderOf(layout));
  const stages = spec.stages.map((stage, index) =>
    deviceMemory(evaluator.job, layout, evaluation.peakBytes[index] ?? 0, stage.residentBytes),
  );
  return {
    layout,
    evaluation,
    deviceBytes: Math.max(...stages.map((stage) => stage.deviceBytes)),
    verdict: worstVerdict(stages.map((stage) => stage.verdict)),
  };
}

/** Keeps a list sorted; of equal ranks the earlier one stays first. */
function insert(list: Candidate[], candidate: Candidate, rankOfCandidate: (each: Candidate) => Rank): void {
  const rank = rankOfCandidate(candidate);
  let at = list.length;
  while (at > 0 && isBefore(rank, rankOfCandidate(list[at - 1] as Candidate))) at -= 1;
  list.splice(at, 0, candidate);
}
