/** @file What one rank needs to execute its list: program, place, memory, fabric, and what it has measured. */
import {
  type Allocations,
  allocationsOf,
  type ExpandedList,
  expandList,
  type Lifetimes,
  lifetimesOf,
  type Program,
  storagesOf,
} from '@meshwright/core/program';
import type { Move, Slice } from '@meshwright/core/timeline';
import type { TrainingState } from '../checkpoint/load.ts';
import type { Placement } from '../checkpoint/placement.ts';
import { type Engine, type KernelEngine, plainEngine } from '../kernels/engine.ts';
import { findOpenBlas, missingWords } from '../kernels/openblas/library.ts';
import type { Elements } from '../kernels/tensor.ts';
import { wasmEngine } from '../kernels/wasm/engine.ts';
import { fastestBuild } from '../kernels/wasm/exports.ts';
import { type Add, vectorAdd } from '../kernels/wasm/vector-add.ts';
import { listOf, type Seat, seatOf } from '../place/seat.ts';
import type { Corpus } from '../tokens/corpus.ts';
import type { LearningRate } from '../train/rate.ts';
import type { FabricMemory, FabricPlan } from '../transport/fabric.ts';
import { openPort, type Port } from '../transport/port.ts';
import type { Arithmetic } from '../transport/wire.ts';
import { type Cells, createCells } from './cells.ts';
import type { Drill } from './drill.ts';
import type { ExchangePlan } from './exchange.ts';
import { createLanes, type Lanes } from './lanes.ts';
import { createRows, type KnownRows, type RowTables } from './rows.ts';

/** What a run is asked to do; the same for all ranks. */
export interface RunOptions {
  /** The number of the last step. */
  readonly steps: number;
  /** The first one to run: 1, or the one behind a checkpoint. */
  readonly firstStep: number;
  readonly seed: number;
  readonly learningRate: LearningRate;
  /** Standard deviation of initial weights. */
  readonly initialDeviation: number;
  /** The wide halves of adapters begin at 0, so that the model begins as it is without them. */
  readonly adaptersBeginAtZero: boolean;
  /** Steps, from 1, whose gradients are kept. */
  readonly captureGradients: readonly number[];
  readonly arithmetic: Arithmetic;
  readonly kernels: KernelEngine;
  /** What is trained on; drawn from the seed when undefined. */
  readonly corpus: Corpus | undefined;
  /** A validation follows each step that this divides, and the last one; 0: none. */
  readonly validateEvery: number;
  /** Token ids are below this. */
  readonly vocabulary: number;
  /** Weights to start from, whole, by Hugging Face name; tensors that are left out are drawn. */
  readonly initial: Readonly<Record<string, ArrayLike<number>>>;
  /** Weights and optimizer state to go on from. */
  readonly state: TrainingState['tensors'] | undefined;
  readonly saves: SavePlan | undefined;
  readonly drill: Drill | undefined;
}

/** Where and when ranks write checkpoints. */
export interface SavePlan {
  readonly folder: string;
  /** A checkpoint follows each step that this divides, and the last one. */
  readonly every: number;
  readonly placement: Placement;
}

/** Everything about the fabric that a thread is given. */
export interface Fabric {
  readonly plan: FabricPlan;
  readonly memory: FabricMemory;
}

/** What a rank saw in one step. */
export interface StepRecord {
  /** Undefined on ranks that compute no loss, or no norm. */
  loss: number | undefined;
  gradientNorm: number | undefined;
  /** Own shards of the gradients by bucket, before clipping, where this step is captured. */
  readonly gradients: Record<string, Elements>;
  /** Loss on the validation samples, after the step. */
  validationLoss: number | undefined;
  /** Nanoseconds since the run began; the validation is left out. */
  start: number;
  end: number;
  /** Bytes that this rank took from others by key of the ledger, without the validation. */
  taken: Float64Array;
  slices: Slice[];
  /** What it took from others, by operation. */
  moves: readonly Move[];
  /** Live bytes at each operation of its list. */
  held: Float64Array;
  peakBytes: number;
  /** What the engine's memory really reached; 0 where it is the host's. */
  highWaterBytes: number;
  /** In host memory: what is held, and what the program says. */
  hostBytes: number;
  predictedHostBytes: number;
  /** Peak of the program's lifetimes. */
  predictedPeakBytes: number;
  /** Counts of routed rows, by layer and micro-batch: of the step, then of a validation that followed it. */
  readonly rows: RowTables[];
  /** Operations at which the live bytes were not the program's. */
  readonly memoryDiffers: { operation: number; live: number; predicted: number }[];
}

export interface Machine {
  readonly program: Program;
  readonly options: RunOptions;
  readonly seat: Seat;
  readonly expanded: ExpandedList;
  readonly lifetimes: Lifetimes;
  readonly allocations: Allocations;
  readonly engine: Engine;
  readonly cells: Cells;
  readonly lanes: Lanes;
  /** Counts of routed rows, and the live bytes at each operation until all of them are known. */
  readonly rows: KnownRows;
  readonly seenBytes: Float64Array;
  readonly port: Port;
  readonly fabric: Fabric;
  /** Of collectives by their operation, once it has run. */
  readonly plans: Map<number, ExchangePlan>;
  /** Sums of exchanges. */
  readonly add: Add;
  /** Nanoseconds since the run began. */
  readonly clock: () => number;
  readonly starts: Map<number, number>;
  /** Counts from 1. */
  step: number;
  /** The period is run on validation samples: no dropout, and the optimizer leaves the weights as they are. */
  validates: boolean;
  /** The operation that the rank is at. */
  at: number;
  record: StepRecord;
}

export const emptyRecord = (): StepRecord => ({
  loss: undefined,
  validationLoss: undefined,
  start: 0,
  end: 0,
  taken: new Float64Array(0),
  gradientNorm: undefined,
  gradients: {},
  slices: [],
  moves: [],
  held: new Float64Array(0),
  peakBytes: 0,
  highWaterBytes: 0,
  hostBytes: 0,
  predictedHostBytes: 0,
  predictedPeakBytes: 0,
  rows: [],
  memoryDiffers: [],
});

/** The rank's machine, its resident buffers handed out and not yet filled. */
export function createMachine(
  program: Program,
  rank: number,
  options: RunOptions,
  fabric: Fabric,
  clock: () => number,
): Machine {
  const seat = seatOf(program, rank);
  const expanded = expandList(program, listOf(program, seat));
  const lifetimes = lifetimesOf(expanded, seat.degrees);
  const storages = storagesOf(expanded);
  const engine = engineOf(options, heldBytes(lifetimes.peakBytes, expanded, program));
  const rows = createRows(seat);
  const poisons = (): boolean => !machine || isEarly(machine);
  const memories = { device: engine, host: plainEngine(options.arithmetic) };
  const cells = createCells(storages, seat, memories, poisons, rows.bytesOf);
  const starts = new Map<number, number>();
  const machine: Machine = {
    program,
    options,
    seat,
    expanded,
    lifetimes,
    allocations: allocationsOf(lifetimes),
    engine,
    cells,
    rows,
    seenBytes: new Float64Array(expanded.operations.length),
    lanes: createLanes(({ operation }, event) => {
      if (event === 'turn') machine.port.moving(operation.index);
      else if (event === 'start') starts.set(operation.index, clock());
      else noteSlice(machine, operation.index, starts.get(operation.index) ?? 0);
    }),
    port: openPort(fabric.plan, fabric.memory, rank),
    fabric,
    plans: new Map(),
    add: vectorAdd(),
    clock,
    starts,
    step: 0,
    validates: false,
    at: 0,
    record: emptyRecord(),
  };
  for (const { instance } of lifetimes.residents) cells.allocate(instance);
  return machine;
}

/** Periods of a run in which memory that nobody has written is not a number: the first, and the one that follows a whole one.
 * Every period is the same list, so what they do not show none does. */
const EARLY_PERIODS = 2;

/** Whether the machine is in the first periods of its run. */
export const isEarly = ({ step, options }: Machine): boolean => step < options.firstStep + EARLY_PERIODS;

/** The fast kernels compute in float32 only. */
function engineOf({ kernels, arithmetic }: RunOptions, peakBytes: number): Engine {
  if (arithmetic !== 'float32') return plainEngine(arithmetic);
  switch (kernels) {
    case 'plain':
      return plainEngine(arithmetic);
    case 'wasm':
      return wasmEngine(peakBytes, { build: fastestBuild() });
    case 'wasm-portable':
      return wasmEngine(peakBytes, { build: 'portable' });
    case 'openblas': {
      const found = findOpenBlas();
      if (found.kind === 'missing') throw new Error(missingWords(found).message);
      return wasmEngine(peakBytes, { blas: found.library, build: fastestBuild() });
    }
  }
}

/** Two-byte types are held in four. */
function heldBytes(peakBytes: number, { list }: ExpandedList, { buffers }: Program): number {
  const narrow = [...list.buffers, ...buffers].some(({ dtype }) => dtype === 'bf16');
  return narrow ? 2 * peakBytes : peakBytes;
}

/** Adds an operation that has just ended to the timeline of the step. */
export function noteSlice(machine: Machine, index: number, start: number): void {
  const lane = machine.expanded.operations[index]?.operation.lane ?? 'compute';
  machine.record.slices.push({ rank: machine.seat.rank, lane, operation: index, start, end: machine.clock() });
}
