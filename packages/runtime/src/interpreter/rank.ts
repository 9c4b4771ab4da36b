/** @file One rank from its initial weights to its last step, and what it hands back. */
import type { ExpandedOperation } from '@meshwright/core/program';
import { fillWeights } from '../inputs/weights.ts';
import type { Elements } from '../kernels/tensor.ts';
import { ownedWeights } from './buckets.ts';
import { valuesOf } from './cells.ts';
import { OperationError } from './lanes.ts';
import { emptyRecord, type Machine, type RunOptions, type StepRecord } from './machine.ts';
import { runPeriod } from './period.ts';

/** Parameters that a rank owns at the end, by bucket, in the fullest precision that it keeps. */
export type OwnedShards = Readonly<Record<string, Elements>>;

/** Trains all steps; gives way while it can only wait. `onStep` is told of each step that is complete. */
export function* runRank(
  machine: Machine,
  onStep: (step: number, record: StepRecord) => void,
): Generator<void, OwnedShards, void> {
  fillWeights(machine);
  for (let step = 1; step <= machine.options.steps; step++) {
    if (!machine.port.mayBegin(step)) break;
    machine.step = step;
    machine.record = { ...emptyRecord(), start: machine.clock() };
    yield* runPeriod(machine);
    machine.record.end = machine.clock();
    machine.record.taken = machine.port.taken();
    machine.record.highWaterBytes = machine.engine.highWaterBytes();
    if (validatesAfter(step, machine.options)) yield* runValidation(machine);
    onStep(step, machine.record);
  }
  return ownedShards(machine);
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
  machine.validates = false;
  machine.record = record;
  machine.port.taken();
}

/** Masters where there are any, else the rank's own part of the weights. */
function ownedShards(machine: Machine): OwnedShards {
  const shards: Record<string, Elements> = {};
  for (const bucket of machine.expanded.list.buckets) {
    for (const { instance } of machine.lifetimes.residents) {
      const { declaration } = instance;
      if (declaration.bucket !== bucket.name) continue;
      const operand = { instance, dims: declaration.dims };
      const isMaster = declaration.name.endsWith('.master');
      if (isMaster) shards[bucket.name] = valuesOf(machine.cells.window(operand)).slice();
      if (declaration.role === 'weight' && shards[bucket.name] === undefined) {
        shards[bucket.name] = valuesOf(ownedWeights(machine, operand, bucket)).slice();
      }
    }
  }
  return shards;
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
