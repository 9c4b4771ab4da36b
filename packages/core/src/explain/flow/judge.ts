/** @file Judging one kind of layout: does it fit, at what price, and what does a sentence say about it. */
import type { Sharding } from '../../layout/index.ts';
import { formatLayout } from '../../layout/index.ts';
import { thresholds } from '../../plan/index.ts';
import type { Facts } from '../facts.ts';
import { stateLaw } from '../facts.ts';
import { deviceBytes, isLegal, type LegalTrial, type Trial, type Trials } from '../trials.ts';
import type { Decision, FlowStep, Quantity } from '../types.ts';
import { amount, bothBytes, gib, issueWords, quantity, share, time, whole } from '../words.ts';

/** What every step reads. */
export interface FlowContext {
  readonly trials: Trials;
  readonly facts: Facts;
}

/** A layout that the flow may end with. */
export interface Choice {
  readonly name: string;
  readonly trial: LegalTrial;
}

/** A step and the layout that it found, when one fits. */
export interface Asked {
  readonly step: FlowStep;
  readonly choice?: Choice;
  /** Gathers of units are waited for: the way out is to gather less, not to gather beside something else. */
  readonly gathersExposed?: boolean;
}

export interface Judgement {
  readonly decision: Decision;
  readonly choice?: Choice;
  /** A sentence without its end: what the layout needs and takes, or why there is none. */
  readonly words: string;
  readonly gathersExposed: boolean;
}

export const stepSeconds = (trial: LegalTrial): number => trial.candidate.evaluation.seconds;

/** The better of several trials: what fits before what is at risk, then the faster. Of illegal ones the last. */
export function better(trials: readonly Trial[]): Trial | undefined {
  const order = { fits: 0, 'at-risk': 1, 'does-not-fit': 2 } as const;
  const legal = trials.filter(isLegal);
  const rank = ({ candidate }: LegalTrial): number => order[candidate.verdict];
  const size = (trial: LegalTrial): number =>
    trial.candidate.verdict === 'does-not-fit' ? deviceBytes(trial) : stepSeconds(trial);
  return legal.sort((a, b) => rank(a) - rank(b) || size(a) - size(b))[0] ?? trials.at(-1);
}

/** Judges a kind beside what was found before it. */
export function judge(
  context: FlowContext,
  name: string,
  trial: Trial | undefined,
  earlier: Choice | undefined,
): Judgement {
  if (!isLegal(trial)) return { decision: 'no', words: issueWords(trial?.issues ?? []), gathersExposed: false };
  if (trial.candidate.verdict === 'does-not-fit') {
    return { decision: 'no', words: tooLarge(context, name, trial), gathersExposed: false };
  }
  const exposed = gathersShare(context, trial);
  const prices = [
    trial.candidate.verdict === 'at-risk' ? 'fits only if the assumptions are kind' : undefined,
    recomputes(context, trial) ? 'fits only with recomputation' : undefined,
    exposed > thresholds.dataShare ? `waits for gathers during ${share(exposed)} of the step` : undefined,
    earlier && stepSeconds(earlier.trial) <= stepSeconds(trial) ? `is not faster than ${earlier.name}` : undefined,
  ].filter((each) => each !== undefined);
  const needs = `${name} needs ${gib(deviceBytes(trial))} of ${gib(context.facts.capacityBytes)} and takes ${time(stepSeconds(trial))} a step (${formatLayout(trial.candidate.layout)})`;
  return {
    decision: prices.length === 0 ? 'yes' : 'barely',
    choice: { name, trial },
    words: prices.length === 0 ? needs : `${needs}, but it ${prices.join(' and ')}`,
    gathersExposed: exposed > thresholds.dataShare,
  };
}

/** The layout recomputes although nobody asked for it. */
const recomputes = ({ facts }: FlowContext, { candidate }: LegalTrial): boolean =>
  candidate.layout.recompute !== 'none' && facts.job.layout.recompute === undefined;

/** Share of the step that waits for the data axis where units are gathered at every use. */
export function gathersShare({ trials }: FlowContext, trial: LegalTrial): number {
  if (trial.candidate.layout.sharding !== 3) return 0;
  const { step } = trials.shownOf(trial);
  return step.partsSeconds.data / step.seconds;
}

/** What makes the smallest layout of a kind too large: the two largest parts. */
function tooLarge({ trials, facts }: FlowContext, name: string, trial: LegalTrial): string {
  const { memory } = trials.shownOf(trial);
  const stage = [...memory.stages].sort((a, b) => b.deviceBytes - a.deviceBytes)[0];
  const parts = Object.entries(stage?.partsBytes ?? {}).sort(([, a], [, b]) => b - a);
  const largest = parts.slice(0, 2).map(([part, size]) => `${gib(size)} of it ${part}`);
  return `${name} needs ${gib(stage?.deviceBytes ?? 0)} of ${gib(facts.capacityBytes)} at least, ${largest.join(' and ')}`;
}

/** The state law in words: `16 x 6.74 B = 107.8 GB (100 GiB)`. */
export function lawWords(facts: Facts, sharding: Sharding, ranks: number): string {
  const { symbols, bytes } = stateLaw(facts, sharding, ranks);
  const numbers = symbols
    .replaceAll('N', whole(ranks))
    .replace('Psi', `x ${amount(facts.trained)}`)
    .replace('F', `x ${amount(facts.frozen)}`);
  return `${symbols} = ${numbers} = ${bothBytes(bytes)}`;
}

/** The state law as a number. */
export function lawQuantity(facts: Facts, name: string, sharding: Sharding, ranks: number): Quantity {
  const { symbols, bytes } = stateLaw(facts, sharding, ranks);
  return quantity(`state per GPU under ${name}`, bytes, 'bytes', symbols);
}

/** Memory and time of a trial as numbers. */
export const trialQuantities = (name: string, trial: Trial | undefined): readonly Quantity[] =>
  isLegal(trial)
    ? [
        quantity(`device memory of ${name}`, deviceBytes(trial), 'bytes'),
        quantity(`step of ${name}`, stepSeconds(trial), 'seconds'),
      ]
    : [];

/** Puts a sentence together: decision first, then the reasons. */
export const answerOf = (decision: Decision, ...sentences: readonly string[]): string =>
  `${decision}: ${sentences
    .filter((each) => each !== '')
    .map((each) => (each.endsWith('.') ? each : `${each}.`))
    .join(' ')}`;
