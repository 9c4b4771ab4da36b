/** @file Trains a step program on real tensors: one rank a thread over shared memory, or all ranks in this thread. */
import { throwOnErrors } from '@meshwright/core/errors';
import { worldSize } from '@meshwright/core/mesh';
import { expandList, type Program } from '@meshwright/core/program';
import { createTimeline, type Timeline } from '@meshwright/core/timeline';
import { vocabularyOf } from '../inputs/fill.ts';
import type { Fabric, RunOptions, StepRecord } from '../interpreter/machine.ts';
import type { RunFailure } from '../interpreter/rank.ts';
import type { Elements } from '../kernels/tensor.ts';
import { createFabricMemory, type LedgerKey, planFabric } from '../transport/fabric.ts';
import { assembleTensors, type TensorSet } from './assemble.ts';
import { checkRunnable } from './check-runnable.ts';
import { hostInline } from './host-inline.ts';
import type { CompletedStep, HostOutcome } from './outcome.ts';
import { createRankPool, type RankPool } from './rank-pool.ts';

export interface TrainOptions {
  readonly steps: number;
  /** Of initial weights, samples and dropout; 1 when absent. */
  readonly seed?: number;
  /** 0.001 when absent. */
  readonly learningRate?: number;
  /** Standard deviation of initial weights; 0.02 when absent. */
  readonly initialDeviation?: number;
  /** Weights to start from, whole, by Hugging Face name; tensors that are left out are drawn from the seed. */
  readonly initial?: Readonly<Record<string, ArrayLike<number>>>;
  /** Steps, from 1, whose gradients are kept. */
  readonly captureGradients?: readonly number[];
  /** `float64` computes in double precision and counts bytes as declared: tells logic from rounding. */
  readonly arithmetic?: RunOptions['arithmetic'];
  /** All ranks in this thread; absent: one rank a thread. */
  readonly inline?: true;
  /** Threads to use, and to leave running; absent: threads of this run alone. */
  readonly pool?: RankPool;
  /** A rank that hears nothing for this long gives up; 60 000 when absent. */
  readonly patienceMs?: number;
  /** Told of each step when the last rank has completed it. */
  readonly onStep?: (report: StepReport) => void;
}

/** One completed step. */
export interface StepReport {
  /** Counts from 1. */
  readonly step: number;
  readonly loss: number;
  readonly gradientNorm: number | undefined;
}

/** Bytes that one rank really sent in one kind of exchange, over all steps. */
export interface MovedBytes extends LedgerKey {
  readonly bytes: number;
}

/** Memory of one rank: what the allocator handed out against the program's lifetimes. */
export interface TrackedMemory {
  readonly rank: number;
  readonly peakBytes: number;
  readonly predictedPeakBytes: number;
  /** Operations at which the two differed, over all steps. */
  readonly differs: readonly { readonly operation: number; readonly live: number; readonly predicted: number }[];
}

export interface RunResult {
  readonly optimizer: Program['optimizer'];
  readonly stopped: 'done' | RunFailure;
  /** One for each completed step. */
  readonly losses: readonly number[];
  /** Global norm before clipping, one for each completed step; undefined where the program computes none. */
  readonly gradientNorms: readonly (number | undefined)[];
  /** Whole gradients of the captured steps, before clipping. */
  readonly gradients: Readonly<Record<number, TensorSet>>;
  /** Whole parameters after the last step; empty when the run stopped early. */
  readonly parameters: TensorSet;
  /** By rank. */
  readonly bytes: readonly (readonly MovedBytes[])[];
  readonly memory: readonly TrackedMemory[];
  /** The last completed step. */
  readonly timeline: Timeline;
}

/** Trains for `steps` steps from seeded weights and samples. A rank that fails stops all; the result says why.
 * Throws one InputError with all that keeps the program from being run. */
export async function trainProgram(program: Program, options: TrainOptions): Promise<RunResult> {
  throwOnErrors(checkRunnable(program, options));
  const lists = program.lists.map((list) => expandList(program, list));
  const runOptions: RunOptions = {
    steps: options.steps,
    seed: options.seed ?? 1,
    learningRate: options.learningRate ?? 1e-3,
    initialDeviation: options.initialDeviation ?? 0.02,
    captureGradients: options.captureGradients ?? [],
    arithmetic: options.arithmetic ?? 'float32',
    vocabulary: vocabularyOf(program),
    initial: options.initial ?? {},
  };
  const plan = planFabric(program, lists, worldSize(program.mesh), runOptions.arithmetic);
  const fabric: Fabric = { plan, memory: createFabricMemory(plan) };
  const { onStep } = options;
  const completed: CompletedStep = (step, records) => onStep?.({ step, ...summaryOf(records) });
  const outcome = options.inline
    ? hostInline(program, runOptions, fabric, completed)
    : await hostThreads(program, runOptions, fabric, completed, options);
  return resultOf(program, outcome, fabric);
}

async function hostThreads(
  program: Program,
  runOptions: RunOptions,
  fabric: Fabric,
  completed: CompletedStep,
  { pool, patienceMs = 60_000 }: TrainOptions,
): Promise<HostOutcome> {
  const threads = pool ?? createRankPool();
  try {
    return await threads.run({ program, options: runOptions, fabric, patienceMs, completed });
  } finally {
    if (!pool) await threads.close();
  }
}

function resultOf(program: Program, { stopped, ranks }: HostOutcome, fabric: Fabric): RunResult {
  const completed = Math.min(...ranks.map(({ records }) => records.length));
  const steps = Array.from({ length: completed }, (_, index) => ranks.map(({ records }) => records[index]!));
  const captured = steps.flatMap((records, index): readonly [number, TensorSet][] => {
    const shards: readonly Readonly<Record<string, Elements>>[] = records.map(({ gradients }) => gradients);
    return shards.some((each) => Object.keys(each).length > 0) ? [[index + 1, assembleTensors(program, shards)]] : [];
  });
  const last = steps.at(-1) ?? [];
  return {
    optimizer: program.optimizer,
    stopped,
    losses: steps.map((records) => summaryOf(records).loss),
    gradientNorms: steps.map((records) => summaryOf(records).gradientNorm),
    gradients: Object.fromEntries(captured),
    parameters:
      stopped === 'done'
        ? assembleTensors(
            program,
            ranks.map(({ shards }) => shards),
          )
        : {},
    bytes: movedBytes(fabric),
    memory: memoryOf(ranks),
    timeline: createTimeline('measured', rebased(last.flatMap(({ slices }) => slices))),
  };
}

/** The loss is known to the ranks that compute it, the norm to all. */
const summaryOf = (records: readonly StepRecord[]): Omit<StepReport, 'step'> => ({
  loss: records.find(({ loss }) => loss !== undefined)?.loss ?? Number.NaN,
  gradientNorm: records.find((record) => record.gradientNorm !== undefined)?.gradientNorm,
});

function movedBytes({ plan, memory }: Fabric): readonly (readonly MovedBytes[])[] {
  const counts = new BigInt64Array(memory.ledger);
  return Array.from({ length: plan.ranks }, (_, rank) =>
    plan.ledger
      .map((key, index) => ({ ...key, bytes: Number(counts[rank * plan.ledger.length + index] ?? 0n) }))
      .filter(({ bytes }) => bytes > 0),
  );
}

const memoryOf = (ranks: HostOutcome['ranks']): readonly TrackedMemory[] =>
  ranks.map(({ rank, records }) => ({
    rank,
    peakBytes: Math.max(0, ...records.map(({ peakBytes }) => peakBytes)),
    predictedPeakBytes: Math.max(0, ...records.map(({ predictedPeakBytes }) => predictedPeakBytes)),
    differs: records.flatMap(({ memoryDiffers }) => memoryDiffers),
  }));

/** Times since the first operation of the step. */
function rebased<Slice extends { readonly start: number; readonly end: number }>(slices: readonly Slice[]): Slice[] {
  const start = slices.reduce((first, slice) => Math.min(first, slice.start), Infinity);
  return slices.map((slice) => ({ ...slice, start: slice.start - start, end: slice.end - start }));
}
