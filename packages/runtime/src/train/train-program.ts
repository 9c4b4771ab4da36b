/** @file Trains a step program on real tensors: one rank a thread over shared memory, or all ranks in this thread. */
import { throwOnErrors } from '@meshwright/core/errors';
import { worldSize } from '@meshwright/core/mesh';
import { expandList, type Program } from '@meshwright/core/program';
import { createTimeline, type Recording, type Timeline } from '@meshwright/core/timeline';
import { removePartial } from '../checkpoint/folder.ts';
import { checkState, type TrainingState } from '../checkpoint/load.ts';
import { lockFolder } from '../checkpoint/lock.ts';
import { frozenOf, type Placement, placementOf, shapesOf } from '../checkpoint/placement.ts';
import { vocabularyOf } from '../inputs/fill.ts';
import type { Drill } from '../interpreter/drill.ts';
import type { Fabric, RunOptions, StepRecord } from '../interpreter/machine.ts';
import type { RunFailure } from '../interpreter/rank.ts';
import type { RowTables } from '../interpreter/rows.ts';
import type { KernelEngine } from '../kernels/engine.ts';
import type { Elements } from '../kernels/tensor.ts';
import type { Corpus } from '../tokens/corpus.ts';
import { createFabricMemory, type LedgerKey, planFabric } from '../transport/fabric.ts';
import { openPort } from '../transport/port.ts';
import { assembleTensors, type TensorSet } from './assemble.ts';
import { checkRunnable } from './check-runnable.ts';
import { type CheckpointOptions, complete, markOf } from './checkpoints.ts';
import { hostInline } from './host-inline.ts';
import type { HostListener, HostOutcome } from './outcome.ts';
import { createRankPool, type RankPool } from './rank-pool.ts';
import { type LearningRate, rateAt } from './rate.ts';
import { lossAndNorm, type StepReport, secondsOf, stepReport, validationOf } from './step-report.ts';
import type { StopSignal } from './stop-signal.ts';

export interface TrainOptions {
  /** The number of the last step. */
  readonly steps: number;
  /** Of initial weights, samples and dropout; that of `from`, or 1, when absent. */
  readonly seed?: number;
  /** 0.001 when absent. */
  readonly learningRate?: LearningRate;
  /** What is trained on; absent: tokens drawn from the seed, half of which follow from the one before. */
  readonly corpus?: Corpus;
  /** A validation follows each step that this divides, and the last one; absent: none. It is one more period of the
   * program on samples kept apart, without its optimizer, and moves what a step moves. */
  readonly validateEvery?: number;
  /** Aborted: the run ends after the step that it is in. */
  readonly signal?: StopSignal;
  /** Standard deviation of initial weights; 0.02 when absent. */
  readonly initialDeviation?: number;
  /** Weights to start from, whole, by Hugging Face name; tensors that are left out are drawn from the seed. */
  readonly initial?: Readonly<Record<string, ArrayLike<number>>>;
  /** The state to go on from: the run begins with the step behind it, on any layout of the same model. */
  readonly from?: TrainingState;
  /** Checkpoints on the way. */
  readonly checkpoints?: CheckpointOptions;
  /** Steps, from 1, whose gradients are kept. */
  readonly captureGradients?: readonly number[];
  /** `float64` computes in double precision and counts bytes as declared: tells logic from rounding. */
  readonly arithmetic?: RunOptions['arithmetic'];
  /** `wasm` when absent, `plain` for the reference; double precision is always plain. */
  readonly kernels?: KernelEngine;
  /** Breaks the run on purpose. */
  readonly drill?: Drill;
  /** All ranks in this thread; absent: one rank a thread. */
  readonly inline?: true;
  /** Threads to use, and to leave running; absent: threads of this run alone. */
  readonly pool?: RankPool;
  /** A rank that hears nothing for this long gives up; 60 000 when absent. */
  readonly patienceMs?: number;
  /** Told of each step when the last rank has completed it; `timeline` puts together what its ranks did when. */
  readonly onStep?: (report: StepReport, timeline: () => Timeline) => void;
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
  /** Bytes of the engine's memory from the first to the last one ever in use; 0 where memory is the host's. */
  readonly highWaterBytes: number;
  /** In host memory: what was held, and what the program says. */
  readonly hostBytes: number;
  readonly predictedHostBytes: number;
  /** Operations at which the two differed, over all steps. */
  readonly differs: readonly { readonly operation: number; readonly live: number; readonly predicted: number }[];
}

export interface RunResult extends Recording {
  readonly optimizer: Program['optimizer'];
  readonly stopped: 'done' | 'interrupted' | RunFailure;
  /** The number of the first step: above 1 where it went on from a checkpoint. */
  readonly firstStep: number;
  /** How often the program was run: completed steps and validations. */
  readonly periods: number;
  /** One for each completed step. */
  readonly losses: readonly number[];
  /** Global norm before clipping, one for each completed step; undefined where the program computes none. */
  readonly gradientNorms: readonly (number | undefined)[];
  /** By step. */
  readonly validationLosses: Readonly<Record<number, number>>;
  readonly secondsPerStep: readonly number[];
  /** Whole gradients of the captured steps, before clipping. */
  readonly gradients: Readonly<Record<number, TensorSet>>;
  /** Whole parameters after the last step; empty when the run stopped early. */
  readonly parameters: TensorSet;
  /** By rank. */
  readonly bytes: readonly (readonly MovedBytes[])[];
  readonly memory: readonly TrackedMemory[];
  /** Counts of routed rows by rank, then by period: steps and the validations that followed them. */
  readonly rows: readonly (readonly RowTables[])[];
}

/** Trains for `steps` steps from seeded weights and samples. A rank that fails stops all; the result says why.
 * Throws one InputError with all that keeps the program from being run. */
export async function trainProgram(program: Program, options: TrainOptions): Promise<RunResult> {
  const release = options.checkpoints && lockFolder(options.checkpoints.folder);
  try {
    return await train(program, options);
  } finally {
    release?.();
  }
}

async function train(program: Program, options: TrainOptions): Promise<RunResult> {
  const lists = program.lists.map((list) => expandList(program, list));
  throwOnErrors(checkRunnable(program, options));
  const { checkpoints, from, onStep, signal } = options;
  const placement = from || checkpoints ? placementOf(program) : [];
  if (from) throwOnErrors(checkState(from, program, placement));
  if (checkpoints) removePartial(checkpoints.folder);
  const runOptions = runOptionsOf(program, options, placement);
  const plan = planFabric(program, lists, worldSize(program.mesh), runOptions.arithmetic);
  const fabric: Fabric = { plan, memory: createFabricMemory(plan) };
  const { seed, corpus } = runOptions;
  const frozen = frozenOf(placement);
  const about = {
    seed,
    data: checkpoints && corpus && markOf(corpus),
    shapes: Object.fromEntries(shapesOf(placement)),
    ...(frozen.length > 0 && { frozen }),
  };
  const listener: HostListener = {
    onStep: (step, records) =>
      onStep?.(stepReport(program, plan, step, rateAt(runOptions.learningRate, step), records), () =>
        timelineOfStep(records),
      ),
    onSaved: (step, files) => {
      if (checkpoints) complete(program, checkpoints, { step, files, ...about });
    },
  };
  const end = (): void => openPort(plan, fabric.memory, 0).askToEnd();
  if (signal?.aborted) end();
  signal?.addEventListener('abort', end);
  const outcome = options.inline
    ? hostInline(program, runOptions, fabric, listener)
    : await hostThreads(program, runOptions, fabric, listener, options);
  signal?.removeEventListener('abort', end);
  if (checkpoints) removePartial(checkpoints.folder);
  return resultOf(program, outcome, fabric, runOptions);
}

async function hostThreads(
  program: Program,
  runOptions: RunOptions,
  fabric: Fabric,
  listener: HostListener,
  { pool, patienceMs = 60_000 }: TrainOptions,
): Promise<HostOutcome> {
  const threads = pool ?? createRankPool();
  try {
    return await threads.run({ program, options: runOptions, fabric, patienceMs, listener });
  } finally {
    if (!pool) await threads.close();
  }
}

function resultOf(
  program: Program,
  { stopped, ranks }: HostOutcome,
  fabric: Fabric,
  { steps: lastStep, firstStep }: RunOptions,
): RunResult {
  const completed = Math.min(...ranks.map(({ records }) => records.length));
  const steps = Array.from({ length: completed }, (_, index) => ranks.map(({ records }) => records[index]!));
  const captured = steps.flatMap((records, index): readonly [number, TensorSet][] => {
    const shards: readonly Readonly<Record<string, Elements>>[] = records.map(({ gradients }) => gradients);
    return shards.some((each) => Object.keys(each).length > 0)
      ? [[firstStep + index, assembleTensors(program, shards)]]
      : [];
  });
  const last = steps.at(-1) ?? [];
  const validations = steps.flatMap((records, index): readonly [number, number][] => {
    const loss = validationOf(records);
    return loss === undefined ? [] : [[firstStep + index, loss]];
  });
  return {
    optimizer: program.optimizer,
    stopped: stopped === 'done' && completed < lastStep - firstStep + 1 ? 'interrupted' : stopped,
    firstStep,
    periods: completed + validations.length,
    losses: steps.map((records) => lossAndNorm(records).loss),
    gradientNorms: steps.map((records) => lossAndNorm(records).gradientNorm),
    validationLosses: Object.fromEntries(validations),
    secondsPerStep: steps.map(secondsOf),
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
    rows: ranks.map(({ records }) => records.flatMap(({ rows }) => rows)),
    timeline: timelineOfStep(last),
    moves: last.flatMap(({ moves }) => moves),
    held: last.map(({ held }) => held),
  };
}

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
    hostBytes: Math.max(0, ...records.map(({ hostBytes }) => hostBytes)),
    predictedHostBytes: Math.max(0, ...records.map(({ predictedHostBytes }) => predictedHostBytes)),
    highWaterBytes: Math.max(0, ...records.map(({ highWaterBytes }) => highWaterBytes)),
    differs: records.flatMap(({ memoryDiffers }) => memoryDiffers),
  }));

const timelineOfStep = (records: readonly Pick<StepRecord, 'slices'>[]): Timeline =>
  createTimeline('measured', rebased(records.flatMap(({ slices }) => slices)));

/** Times since the first operation of the step. */
function rebased<Slice extends { readonly start: number; readonly end: number }>(slices: readonly Slice[]): Slice[] {
  const start = slices.reduce((first, slice) => Math.min(first, slice.start), Infinity);
  return slices.map((slice) => ({ ...slice, start: slice.start - start, end: slice.end - start }));
}

/** The options of a run with a value for each. */
export function runOptionsOf(program: Program, options: TrainOptions, placement: Placement): RunOptions {
  const { from, checkpoints } = options;
  return {
    steps: options.steps,
    firstStep: 1 + (from?.manifest.step ?? 0),
    seed: options.seed ?? from?.manifest.seed ?? 1,
    learningRate: options.learningRate ?? 1e-3,
    initialDeviation: options.initialDeviation ?? 0.02,
    adaptersBeginAtZero: options.initialDeviation === undefined,
    captureGradients: options.captureGradients ?? [],
    arithmetic: options.arithmetic ?? 'float32',
    kernels: options.kernels ?? 'wasm',
    corpus: options.corpus,
    validateEvery: options.validateEvery ?? 0,
    vocabulary: vocabularyOf(program),
    initial: options.initial ?? {},
    drill: options.drill,
    state: from?.tensors,
    saves: checkpoints && { folder: checkpoints.folder, every: checkpoints.every, placement },
  };
}
