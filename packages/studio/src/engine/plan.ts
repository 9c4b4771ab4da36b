/** @file Planning in the worker, piece by piece: what was found, then each row simulated, then each in full. */
import { formatLayout, type Layout } from '@meshwright/core/layout';
import {
  type Candidate,
  createPricing,
  evaluatorOf,
  type Planned,
  type PlanPiece,
  type Pricing,
  planPieces,
  pricingOfSequences,
  type Shown,
} from '@meshwright/core/plan';
import type { Scenario } from '../scenario/scenario.ts';
import { jobOf } from './job-of.ts';
import { pricingKey } from './quick.ts';

/** A layout as the search leaves it: evaluated, not simulated yet. */
export interface FoundRow {
  readonly layout: Layout;
  readonly short: string;
  readonly seconds: number;
  readonly deviceBytes: number;
}

/** What becomes known on the way to a plan, as plain data. */
export type PlanPart =
  | { readonly kind: 'found'; readonly rows: readonly FoundRow[] }
  /** `seconds`: as the simulator has them; undefined where the step is too large for it. */
  | { readonly kind: 'settled'; readonly short: string; readonly seconds: number | undefined }
  | { readonly kind: 'shown'; readonly shown: Shown };

const ROWS = 10;

/** The best layouts of a scenario, in the pieces of {@link planPieces}. Throws an InputError for a scenario that is no job. */
export type Planner = (scenario: Scenario) => Generator<PlanPart, Planned>;

/** A planner that keeps the prices of the last scenario, for the next one that differs in its batch or fixed keys only. */
export function createPlanner(): Planner {
  let known: { readonly key: string; readonly pricing: Pricing } | undefined;
  return function* plan(scenario) {
    const job = jobOf(scenario);
    const key = pricingKey(scenario);
    if (known?.key !== key) known = { key, pricing: createPricing(job) };
    const evaluator = evaluatorOf(pricingOfSequences(known.pricing, scenario.sequences));
    const pieces = planPieces(job, { top: ROWS, evaluator });
    for (;;) {
      const { done, value } = pieces.next();
      if (done) return value;
      yield partOf(value);
    }
  };
}

/** The plan at once. */
export function planOf(scenario: Scenario): Planned {
  const parts = createPlanner()(scenario);
  for (;;) {
    const { done, value } = parts.next();
    if (done) return value;
  }
}

function partOf(piece: PlanPiece): PlanPart {
  switch (piece.kind) {
    case 'found':
      return { kind: 'found', rows: piece.chosen.map(rowOf) };
    case 'settled':
      return { kind: 'settled', short: formatLayout(piece.candidate.layout), seconds: piece.settled.simulatedSeconds };
    case 'shown':
      return piece;
  }
}

const rowOf = ({ layout, evaluation, deviceBytes }: Candidate): FoundRow => ({
  layout,
  short: formatLayout(layout),
  seconds: evaluation.seconds,
  deviceBytes,
});
