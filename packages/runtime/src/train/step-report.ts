/** @file What the host says of one completed step, put together from what the ranks saw. */
import type { Program } from '@meshwright/core/program';
import type { StepRecord } from '../interpreter/machine.ts';
import type { FabricPlan } from '../transport/fabric.ts';

/** One completed step. */
export interface StepReport {
  /** Counts from 1. */
  readonly step: number;
  readonly loss: number;
  readonly gradientNorm: number | undefined;
  readonly learningRate: number;
  /** From the first rank's begin to the last one's end, without the validation. */
  readonly seconds: number;
  /** Of the global batch. */
  readonly tokens: number;
  /** Bytes that all ranks sent, by axis, without the validation. */
  readonly bytes: Readonly<Record<string, number>>;
  /** After the step, where a validation followed it. */
  readonly validationLoss: number | undefined;
}

/** The report of a step from the records of all ranks. */
export function stepReport(
  program: Program,
  plan: FabricPlan,
  step: number,
  learningRate: number,
  records: readonly StepRecord[],
): StepReport {
  const bytes: Record<string, number> = {};
  for (const { taken } of records) {
    plan.ledger.forEach(({ axis }, key) => {
      if (taken[key]) bytes[axis] = (bytes[axis] ?? 0) + taken[key];
    });
  }
  return {
    step,
    ...lossAndNorm(records),
    learningRate,
    seconds: secondsOf(records),
    tokens: tokensOf(program),
    bytes,
    validationLoss: validationOf(records),
  };
}

/** Tokens of the global batch. */
const tokensOf = (program: Program): number => Math.round(1 / program.lossScale);

/** The loss is known to the ranks that compute it, the norm to all. */
export const lossAndNorm = (records: readonly StepRecord[]): Pick<StepReport, 'loss' | 'gradientNorm'> => ({
  loss: records.find(({ loss }) => loss !== undefined)?.loss ?? Number.NaN,
  gradientNorm: records.find((record) => record.gradientNorm !== undefined)?.gradientNorm,
});

export const validationOf = (records: readonly StepRecord[]): number | undefined =>
  records.find(({ validationLoss }) => validationLoss !== undefined)?.validationLoss;

export const secondsOf = (records: readonly StepRecord[]): number =>
  (Math.max(...records.map(({ end }) => end)) - Math.min(...records.map(({ start }) => start))) / 1e9;
