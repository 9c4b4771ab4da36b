/** @file One rank from its initial weights to its last step, and what it hands back. */
import { type ExpandedOperation, hostBytes } from '@meshwright/core/program';
import { partialPath } from '../checkpoint/folder.ts';
import { type ShardFile, type State, stateOf } from '../checkpoint/manifest.ts';
import { type OwnedState, writeShards } from '../checkpoint/shards.ts';
import { fillWeights } from '../inputs/weights.ts';
import type { Elements } from '../kernels/tensor.ts';
import { ownedWeights } from './buckets.ts';
import { valuesOf } from './cells.ts';
import { strike } from './drill.ts';
import { OperationError } from './lanes.ts';
import { emptyRecord, type Machine, type RunOptions, type SavePlan, type StepRecord } from './machine.ts';
import { runPeriod } from './period.ts';

/** Parameters that a rank owns at the end, by bucket, in the fullest precision that it keeps. */
export type OwnedShards = Readonly<Record<string, Elements>>;

/** Who is told what a rank has done. */
export interface RankListener {
  /** A step is complete. */
  readonly onStep: (step: number, record: StepRecord) => void;
  /** The rank's files of a checkpoint are on the disk. */
  readonly onSaved: (step: number, files: readonly ShardFile[]) => void;
}

/** Trains all steps; gives way while it can only wait. */
export function* runRank(machine: Machine, { onStep, onSaved }: RankListener): Generator<void, OwnedShards, void> {
  const { steps, firstStep, saves } = machine.options;
  fillWeights(machine);
  let saved = firstStep - 1;
  const save = (): void => {
    if (saves === undefined || saved === machine.step) return;
    saved = machine.step;
    const files = saveShards(machine, saves);
    strike(machine.options.drill, machine.seat.rank, saved, 'saved');
    onSaved(saved, files);
  };
  machine.step = saved;
  for (let step = firstStep; step <= steps; step++) {
    if (!machine.port.mayBegin(step)) break;
    machine.step = step;
    machine.record = { ...emptyRecord(), start: machine.clock() };
    yield* runPeriod(machine);
    machine.record.end = machine.clock();
    machine.record.taken = machine.port.taken();
    machine.record.moves = machine.port.moves();
    machine.record.held = machine.seenBytes.slice();
    machine.record.hostBytes = machine.cells.hostBytes();
    machine.record.predictedHostBytes = hostBytes(machine.expanded.list.buffers, machine.seat.degrees);
    machine.record.highWaterBytes = machine.engine.highWaterBytes();
    if (validatesAfter(step, machine.options)) yield* runValidation(machine);
    onStep(step, machine.record);
    if (saves && step % saves.every === 0) save();
  }
  save();
  return ownedState(machine).weights ?? {};
}

/** Writes what this rank owns. Throws what the disk says, in words. */
function saveShards(machine: Machine, { folder, placement }: SavePlan): readonly ShardFile[] {
  const { rank } = machine.seat;
  try {
    return writeShards(partialPath(folder, machine.step), rank, placement[rank] ?? [], ownedState(machine));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`the checkpoint of step ${machine.step} was not written: ${reason}`, { cause });
  }
}

const validatesAfter = (step: number, { validateEvery, steps }: RunOptions): boolean =>
  validateEvery > 0 && (step % validateEvery === 0 || step === steps);

/** The same period on validation samples. Only its loss is kept: the record of the step stays that of training. */
function* runValidation(machine: Machine): Generator<void, void, void> {
  const { record } = machine;
  machine.record = emptyRecord();
  machine.validates = true;
  yield* runPeriod(machine);
  record.validationLoss = machine.record.loss;
  record.memoryDiffers.push(...machine.record.memoryDiffers);
  record.rows.push(...machine.record.rows);
  machine.validates = false;
  machine.record = record;
  machine.port.taken();
  machine.port.moves();
}

/** Copies of what the rank owns: parameters (masters where there are any, else its own part of the weights) and moments. */
function ownedState(machine: Machine): OwnedState {
  const owned = { weights: {}, m: {}, v: {}, momentum: {} } as Record<State, Record<string, Elements>>;
  for (const bucket of machine.expanded.list.buckets) {
    for (const { instance } of machine.lifetimes.residents) {
      const { declaration } = instance;
      if (declaration.bucket !== bucket.name) continue;
      const operand = { instance, dims: declaration.dims };
      const state = stateOf(declaration);
      if (declaration.role === 'optimizer') {
        owned[state][bucket.name] = valuesOf(machine.cells.window(operand)).slice();
      } else if (declaration.role === 'weight') {
        owned.weights[bucket.name] ??= valuesOf(ownedWeights(machine, operand, bucket)).slice();
      }
    }
  }
  return owned;
}

/** Why a run ended early. */
export interface RunFailure {
  readonly rank: number;
  /** The operation that it was at, in words. */
  readonly operation: string | undefined;
  readonly reason: string;
  /** What the other ranks were waiting for when they were stopped. */
  readonly waiting?: readonly { readonly rank: number; readonly for: string }[];
}

export function failureOf(machine: Machine, cause: unknown): RunFailure {
  const { rank } = machine.seat;
  if (cause instanceof OperationError) {
    return { rank, operation: describeOperation(cause.operation), reason: cause.reason };
  }
  const operation = machine.expanded.operations[machine.at];
  const reason = cause instanceof Error ? cause.message : String(cause);
  return { rank, operation: operation && describeOperation(operation), reason };
}

/** `block 2, micro-batch 0: gemm n1[2,0] W.b0 none -> qkv[2,0]`. */
export function describeOperation({ operation, block, microBatch, reads, writes }: ExpandedOperation): string {
  const verb =
    operation.kind === 'compute'
      ? operation.kernel
      : operation.kind === 'collective'
        ? `${operation.collective}:${operation.axis}`
        : operation.kind;
  const from = reads.map((operand) => operand?.instance.name ?? 'none').join(' ');
  const to = writes.map(({ operand }) => operand.instance.name).join(' ');
  const place = block === undefined ? '' : `block ${block}, micro-batch ${microBatch}: `;
  return `${place}${verb} ${from} -> ${to}`.trim();
}

/** What a rank that does not move is waiting for. */
export function describeWaiting(machine: Machine): string {
  const waiting = machine.lanes.waiting().map((task) => describeOperation(task.operation));
  return waiting.length === 0 ? 'nothing' : waiting.slice(0, 4).join('; ');
}
