/** @file Trials: the fastest layout of a kind, found by the search over the keys that the kind leaves open. */
import { type Code, codes, type Issue, issue } from '../errors/index.ts';
import type { Job } from '../job/index.ts';
import { completeLayout, formatLayout, type LayoutRequest } from '../layout/index.ts';
import {
  type Candidate,
  createEvaluator,
  type Evaluator,
  evaluateLayout,
  type SearchResult,
  type Shown,
  searchLayouts,
  showCandidate,
  splitCosts,
} from '../plan/index.ts';
import type { Outcome } from './types.ts';

/** What came of one kind of layout. */
export interface Trial {
  /** The fastest that fits; else the fastest at risk; else the one with the least memory. Absent when none is legal. */
  readonly candidate: Candidate | undefined;
  /** Why none is legal. */
  readonly issues: readonly Issue[];
  /** Legal and illegal layouts of the kind. */
  readonly considered: number;
  /** No layout of the kind that fits is faster. */
  readonly proven: boolean;
  readonly evaluator: Evaluator;
}

/** A trial whose layout exists. */
export interface LegalTrial extends Trial {
  readonly candidate: Candidate;
}

/** Trials of one job; each is made once. */
export interface Trials {
  readonly job: Job;
  bestOf(request: LayoutRequest): Trial;
  shownOf(trial: LegalTrial): Shown;
}

export const isLegal = (trial: Trial | undefined): trial is LegalTrial => trial?.candidate !== undefined;

/** Some layout of the kind fits, by the assumed values of what is assumed. */
export const fits = (trial: Trial | undefined): trial is LegalTrial =>
  isLegal(trial) && trial.candidate.verdict === 'fits';

/** The keys of a layout that `explain` leaves as they are given; it decides the others itself. */
export function openJob(job: Job): Job {
  const { microBatch, recompute, gradientType, prefetch, bucketMB, order } = job.layout;
  const layout = Object.freeze({ microBatch, recompute, gradientType, prefetch, bucketMB, order });
  return Object.freeze({ ...job, layout });
}

/** Trials over an open job. */
export function createTrials(job: Job): Trials {
  const known = new Map<string, Trial>();
  const shown = new Map<LegalTrial, Shown>();
  const evaluator = createEvaluator(job);
  return {
    job,
    bestOf(request) {
      const key = JSON.stringify(request);
      const trial = known.get(key) ?? search(job, request, evaluator);
      known.set(key, trial);
      return trial;
    },
    shownOf(trial) {
      const found = shown.get(trial) ?? showCandidate(trial.evaluator, trial.candidate);
      shown.set(trial, found);
      return found;
    },
  };
}

function search(job: Job, request: LayoutRequest, evaluator: Evaluator): Trial {
  const layout = { ...job.layout, ...request };
  const found = searchLayouts({ ...job, layout }, { top: 1, evaluator });
  const { considered, proven } = found;
  if (found.legal > 0) {
    const candidate = found.best[0] ?? found.atRisk[0] ?? tightest(found);
    return { candidate, issues: [], considered, proven, evaluator };
  }
  const named = completeLayout(layout, job, splitCosts(job)).issues.filter((each) => each.severity === 'error');
  const issues = named.length > 0 ? named : rejections(found);
  return { candidate: undefined, issues, considered, proven, evaluator };
}

const tightest = ({ leastMemory, evaluator }: SearchResult): Candidate | undefined =>
  leastMemory && evaluateLayout(evaluator, leastMemory.layout);

const rejections = ({ rejected }: SearchResult): readonly Issue[] =>
  (Object.keys(rejected) as Code[]).map((code) => issue(code, 'layout', codes[code].meaning, codes[code].fix));

/** Bytes of the fullest stage as the device sees them. */
export const deviceBytes = ({ candidate }: LegalTrial): number => candidate.deviceBytes;

/** Why no layout of a trial is legal, in a sentence without its end. */
export const issuesOfTrial = ({ issues }: Trial): string =>
  issues.map(({ message }) => message.replace(/\.$/, '')).join('; ') || 'no such layout is legal';

/** A trial in a line. */
export const outcomeOf = (name: string, trial: LegalTrial): Outcome => ({
  name,
  layout: formatLayout(trial.candidate.layout),
  seconds: trial.candidate.evaluation.seconds,
  deviceBytes: deviceBytes(trial),
  verdict: trial.candidate.verdict,
});
