/** @file Explains a job: which way of splitting it the usual reasoning arrives at, with this job's numbers at each step, what
 * every strategy would hold and send, where costs are equal, and what the search says to all that.
 *
 * Every number comes from layouts that were compiled and priced; the laws only say how it is made up.
 */
import type { Issue } from '../errors/index.ts';
import { type Job, precisionName } from '../job/index.ts';
import { planJob, type Shown } from '../plan/index.ts';
import { breakEvenLines } from './break-even.ts';
import { factsOf } from './facts.ts';
import { failureStep } from './failures.ts';
import { answerOf, type FlowContext, walkFlow } from './flow/index.ts';
import { orderStep } from './order.ts';
import { checkRules } from './rules/index.ts';
import { strategyTable } from './table/index.ts';
import { createTrials, fits, isLegal, type LegalTrial, openJob, outcomeOf, type Trial } from './trials.ts';
import type { Explained, FlowStep, Outcome } from './types.ts';
import { gib, quantity, share, time, whole } from './words.ts';

export interface ExplainOptions {
  /** Called with what is being done. */
  readonly onProgress?: (doing: string) => void;
}

/** Explains a job. Keys of its layout that the flow decides (degrees, sharding, stages, sequence parallelism) are left open;
 * micro-batch, recomputation, gradient type, buckets, prefetch and order are kept. What a fixed layout takes is `given`.
 */
export function explainJob(job: Job, { onProgress }: ExplainOptions = {}): Explained {
  const open = openJob(job);
  onProgress?.('walking the flow');
  const context: FlowContext = { trials: createTrials(open), facts: factsOf(open) };
  const { steps, choice } = walkFlow(context);
  onProgress?.('searching all layouts');
  const optimum = context.trials.bestOf({});
  const recommendation = choice && outcomeOf(choice.name, choice.trial);
  const search = isLegal(optimum) && optimum.candidate.verdict !== 'does-not-fit' ? searched(optimum) : undefined;
  const cost = recommendation && search && recommendation.seconds / search.seconds - 1;
  const given = givenLayout(job);
  onProgress?.('pricing the strategies, checking the rules');
  return {
    schema: 'meshwright.explain/1',
    job: jobFacts(job, context),
    flow: [
      ...steps,
      searchStep(optimum, recommendation, search, cost),
      ...(search && isLegal(optimum)
        ? [...orderStep(open, optimum), failureStep(context.trials.shownOf(optimum))]
        : []),
    ],
    ...(recommendation && { recommendation }),
    ...(search && { search }),
    ...(cost !== undefined && { costOverSearch: cost }),
    ...(given.outcome && { given: given.outcome }),
    table: strategyTable(context, choice),
    breakEven: breakEvenLines(context, choice),
    rules: fits(optimum) ? checkRules(context, choice, optimum) : [],
    issues: [...(search ? [] : planJob(open, { top: 1 }).issues), ...given.issues],
  };
}

const searched = (optimum: LegalTrial): Explained['search'] => ({
  ...outcomeOf('search', optimum),
  considered: optimum.considered,
  proven: optimum.proven,
});

function searchStep(
  optimum: Trial,
  recommendation: Outcome | undefined,
  search: Explained['search'],
  cost: number | undefined,
): FlowStep {
  const count = `${whole(optimum.considered)} layouts`;
  const found = search
    ? `the fastest of ${count} is ${search.layout}: ${time(search.seconds)} a step, ${gib(search.deviceBytes)} on the fullest stage`
    : `none of ${count} fits`;
  return {
    step: 'search',
    question: 'What does the search over all layouts say?',
    numbers: [
      quantity('layouts considered', optimum.considered, 'count'),
      ...(search ? [quantity('step of the search', search.seconds, 'seconds')] : []),
      ...(recommendation ? [quantity('step of the flow', recommendation.seconds, 'seconds')] : []),
      ...(cost === undefined ? [] : [quantity('cost of the flow over the search', cost, 'share')]),
    ],
    answer: answerOf(search ? 'yes' : 'no', found, besideSearch(recommendation, search, cost)),
    decision: search ? 'yes' : 'no',
  };
}

function besideSearch(
  recommendation: Outcome | undefined,
  search: Explained['search'],
  cost: number | undefined,
): string {
  if (recommendation === undefined) return 'The flow found none that fits';
  if (cost === undefined) return '';
  if (recommendation.layout === search?.layout) return 'That is the layout of the flow';
  return `The flow's ${recommendation.name} (${recommendation.layout}) takes ${time(recommendation.seconds)}, ${share(cost)} more`;
}

const outcomeOfShown = (name: string, shown: Shown): Outcome => ({
  name,
  layout: shown.layout.short,
  seconds: shown.step.seconds,
  deviceBytes: Math.max(...shown.memory.stages.map((stage) => stage.deviceBytes)),
  verdict: shown.memory.verdict,
});

/** What the job's own layout takes, where it fixes keys that the flow decides. */
function givenLayout(job: Job): { readonly outcome?: Outcome; readonly issues: readonly Issue[] } {
  const { tensor, pipeline, data, sharding, schedule, chunks, layersPerStage, sequenceParallel } = job.layout;
  const decided = [tensor, pipeline, data, sharding, schedule, chunks, layersPerStage, sequenceParallel];
  if (decided.every((each) => each === undefined)) return { issues: [] };
  const { plans, issues } = planJob(job, { top: 1 });
  const [best] = plans;
  return best ? { outcome: outcomeOfShown('given', best), issues } : { issues };
}

function jobFacts(job: Job, { facts }: FlowContext): Explained['job'] {
  return {
    name: job.name,
    model: job.model.name,
    parameters: facts.parameters,
    cluster: job.cluster.name,
    gpus: facts.gpus,
    sequences: job.batch.sequences,
    length: job.batch.length,
    precision: precisionName(job),
    optimizer: job.optimizer,
    capacityBytes: facts.capacityBytes,
    kept: formatKept(job, facts.job),
  };
}

/** Keys of the layout that are kept as they are given. */
const formatKept = (job: Job, open: Job): string =>
  Object.entries(open.layout)
    .filter(([key, value]) => value !== undefined && job.layout[key as keyof typeof job.layout] !== undefined)
    .map(([key, value]) => `${key}=${Array.isArray(value) ? value.join('-') : String(value)}`)
    .join(',');

export {
  createExam,
  type Exam,
  type ExamPaper,
  type Mark,
  type MarkedExam,
  type Question,
  readAnswers,
  type SolvedExam,
} from './exam/index.ts';
export { nearestRun, type PublishedRun } from './nearest-run.ts';
export type {
  BreakEven,
  Decision,
  Explained,
  FlowStep,
  Outcome,
  Quantity,
  RuleCheck,
  StepName,
  StrategyName,
  StrategyNumbers,
  StrategyRow,
  Unit,
} from './types.ts';
