/** @file The recipes of the field: three numbers without a search, planned as they say and held against the search.
 *
 * `starting-point`: fill the NVLink domain with tensor 8, a pipeline as deep as memory asks and no deeper than the bubble
 * allows, data parallelism with what is left. `2026`: the same with 2 to 4 stages and a smaller bubble. Degrees are the
 * recipe's; what it says nothing about (micro-batch, recomputation, sharding, schedule) is the best that the search finds.
 */
import { gpuCount } from '../../cluster/index.ts';
import type { Job } from '../../job/index.ts';
import { completeLayout, formatLayout, type LayoutRequest } from '../../layout/index.ts';
import { formatShare } from '../../units/index.ts';
import { detailOf } from '../detail.ts';
import { peakRate } from '../peak-rate.ts';
import { type Candidate, type SearchOptions, type SearchResult, searchLayouts } from '../search.ts';
import { splitCosts } from '../split-costs.ts';
import { thresholds } from '../thresholds.ts';
import type { Verdict } from '../verdict.ts';

export type RecipeName = 'starting-point' | '2026';
export const recipeNames: readonly RecipeName[] = ['starting-point', '2026'];

export interface RecipePlan {
  readonly name: RecipeName;
  readonly says: string;
  /** Degrees that were tried, in order, and what came of each. */
  readonly tried: readonly string[];
  /** What the recipe arrives at; absent when none of its layouts fits. */
  readonly layout?: string;
  readonly seconds?: number;
  readonly bubbleShare?: number;
  readonly verdict?: Verdict;
  /** Step of the recipe over that of the search, less 1. */
  readonly costOverSearch?: number;
  /** Where it does not keep what it says. */
  readonly unmet: readonly string[];
}

interface Recipe {
  readonly says: string;
  readonly stages: (depths: readonly number[]) => readonly number[];
  readonly bubbleShare: number;
}

const MOST_TENSOR = 8;

const recipes: Readonly<Record<RecipeName, Recipe>> = {
  'starting-point': {
    says: `tensor fills the NVLink domain up to ${MOST_TENSOR}, the fewest stages that fit with a bubble under ${formatShare(thresholds.bubbleShare)}, data takes the rest`,
    stages: (depths) => depths,
    bubbleShare: thresholds.bubbleShare,
  },
  '2026': {
    says: `tensor fills the NVLink domain up to ${MOST_TENSOR}, 2 to 4 stages with a bubble under ${formatShare(thresholds.lowBubbleShare)}, data takes the rest`,
    stages: (depths) => depths.filter((each) => each >= 2 && each <= 4),
    bubbleShare: thresholds.lowBubbleShare,
  },
};

/** Plans a recipe; `searched` is the seconds of the search's own answer. Keys that the job fixes stay as they are. */
export function planRecipe(
  job: Job,
  name: RecipeName,
  searched: number | undefined,
  onProgress?: SearchOptions['onProgress'],
): RecipePlan {
  const recipe = recipes[name];
  const tensor = job.layout.tensor ?? widestTensor(job);
  const depths = recipe.stages(depthsOf(job, tensor));
  const tried: string[] = [];
  let nearest: Found | undefined;
  for (const pipeline of depths) {
    const found = bestUnder(job, { tensor, pipeline }, onProgress);
    tried.push(`tensor ${tensor}, pipeline ${pipeline}: ${found === undefined ? 'does not fit' : bubbleWords(found)}`);
    if (found === undefined) continue;
    if (found.bubbleShare < recipe.bubbleShare) return planOf(name, recipe, tried, found, searched);
    if (nearest === undefined || found.bubbleShare < nearest.bubbleShare) nearest = found;
  }
  if (nearest === undefined) return { name, says: recipe.says, tried, unmet: [nothingWords(depths)] };
  return planOf(name, recipe, tried, nearest, searched);
}

interface Found extends Candidate {
  readonly bubbleShare: number;
}

function bestUnder(job: Job, request: LayoutRequest, onProgress: SearchOptions['onProgress']): Found | undefined {
  const options = { top: 1, ...(onProgress && { onProgress }) };
  const found: SearchResult = searchLayouts({ ...job, layout: { ...job.layout, ...request } }, options);
  const [best] = found.best;
  if (best === undefined) return undefined;
  const { bubbleSeconds } = detailOf(found.evaluator, best, (dtype) => peakRate(job, dtype));
  const bubble = bubbleSeconds.reduce((sum, each) => sum + each, 0) / bubbleSeconds.length;
  return { ...best, bubbleShare: bubble / best.evaluation.seconds };
}

const bubbleWords = ({ bubbleShare, layout }: Found): string =>
  `fits, bubble ${formatShare(bubbleShare)} (${formatLayout(layout)})`;

const nothingWords = (depths: readonly number[]): string =>
  depths.length === 0 ? 'no number of stages that it allows divides the GPUs.' : 'none of its layouts fits.';

function planOf(
  name: RecipeName,
  { says, bubbleShare }: Recipe,
  tried: readonly string[],
  found: Found,
  searched: number | undefined,
): RecipePlan {
  const { seconds } = found.evaluation;
  const over = found.bubbleShare >= bubbleShare;
  return {
    name,
    says,
    tried,
    layout: formatLayout(found.layout),
    seconds,
    bubbleShare: found.bubbleShare,
    verdict: found.verdict,
    ...(searched !== undefined && { costOverSearch: seconds / searched - 1 }),
    unmet: over
      ? [
          `its bubble is ${formatShare(found.bubbleShare)}, not under ${formatShare(bubbleShare)}: no depth that fits has less.`,
        ]
      : [],
  };
}

/** The largest degree up to 8 that stays in the domain and that some layout of the model may have. */
function widestTensor(job: Job): number {
  const { intra } = job.cluster;
  const most = Math.min(MOST_TENSOR, intra.gpus, gpuCount(job.cluster));
  for (let tensor = most; tensor > 1; tensor--) {
    if (intra.gpus % tensor !== 0 || gpuCount(job.cluster) % tensor !== 0) continue;
    if (isLegal(job, tensor)) return tensor;
  }
  return 1;
}

/** No rule of the tensor axis is broken. */
const isLegal = (job: Job, tensor: number): boolean =>
  completeLayout({ ...job.layout, tensor, pipeline: 1 }, job, splitCosts(job)).issues.every(
    ({ severity, path }) => severity !== 'error' || path !== 'layout.tensor',
  );

/** Numbers of stages that the GPUs and the layers allow, fewest first. */
function depthsOf(job: Job, tensor: number): readonly number[] {
  const rest = gpuCount(job.cluster) / tensor;
  const most = Math.min(rest, job.model.layers.length);
  const all = Array.from({ length: most }, (_, index) => index + 1).filter((each) => rest % each === 0);
  return job.layout.pipeline === undefined ? all : all.filter((each) => each === job.layout.pipeline);
}
