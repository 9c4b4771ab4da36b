/** @file One period of a rank's list, in order of issue. Kernels run at once; exchanges are posted and end when they end;
 * an operation waits for the exchanges on its own buffers and for what the program says it needs. A generator: it gives
 * way whenever it can only wait, so that its host may sleep or run another rank.
 */
import type { ExpandedOperation } from '@meshwright/core/program';
import { fillInput } from '../inputs/fill.ts';
import type { Waiting } from '../transport/circle.ts';
import { type Cell, type Pending, poison } from './cells.ts';
import { runCompute } from './compute.ts';
import { strike } from './drill.ts';
import { exchangeRun, exchangeWindows } from './exchange.ts';
import { attributed, type Task } from './lanes.ts';
import { isEarly, type Machine, noteSlice } from './machine.ts';

export function* runPeriod(machine: Machine): Waiting {
  beginPeriod(machine);
  const tasks = new Map<number, Task>();
  for (const expanded of machine.expanded.operations) {
    machine.at = expanded.index;
    machine.port.at(expanded.index);
    machine.port.throwIfStopped();
    strike(machine.options.drill, machine.seat.rank, machine.step, expanded.index);
    for (const instance of machine.allocations.before[expanded.index] ?? []) {
      const cell = machine.cells.allocate(instance);
      fillInput(machine, instance.declaration, cell.data, expanded.microBatch ?? 0);
    }
    yield* runOperation(machine, expanded, tasks);
    checkMemory(machine, expanded.index);
    for (const instance of machine.allocations.after[expanded.index] ?? []) machine.cells.release(instance);
  }
  yield* waitFor(machine, machine.lanes.waiting());
  compareMemory(machine);
  recordLoss(machine);
}

/** Residents that nobody may read before they are written again are poisoned in early periods; inputs are written by the
 * host. */
export function beginPeriod(machine: Machine): void {
  machine.record.predictedPeakBytes = machine.lifetimes.peakBytes;
  const poisons = isEarly(machine);
  for (const { instance } of machine.lifetimes.residents) {
    const { cell } = machine.cells.window({ instance, dims: instance.declaration.dims });
    const { role } = instance.declaration;
    if (poisons && (role === 'gradient' || role === 'scratch')) poison(cell.data);
    fillInput(machine, instance.declaration, cell.data, 0);
  }
}

function* runOperation(machine: Machine, expanded: ExpandedOperation, tasks: Map<number, Task>): Waiting {
  const { operation } = expanded;
  const needed = expanded.needs.flatMap((index) => tasks.get(index) ?? []);
  switch (operation.kind) {
    case 'compute': {
      yield* waitFor(machine, [...needed, ...pendingOn(cellsOf(machine, expanded))]);
      const start = machine.clock();
      attributed({ operation: expanded }, () => runCompute(machine, expanded, operation));
      return noteSlice(machine, expanded.index, start);
    }
    case 'collective':
    case 'send':
    case 'recv':
      tasks.set(expanded.index, postExchange(machine, expanded, needed));
      return machine.lanes.progress();
    case 'wait':
      yield* waitFor(machine, [...needed, ...pendingOn(cellsOf(machine, expanded))]);
      return machine.rows.note(expanded, exchangeWindows(machine, expanded).read);
    case 'host':
    case 'mark': {
      const start = machine.clock();
      yield* waitFor(machine, [...needed, ...pendingOn(cellsOf(machine, expanded))]);
      return noteSlice(machine, expanded.index, start);
    }
    default:
      return;
  }
}

function postExchange(machine: Machine, expanded: ExpandedOperation, needed: readonly Task[]): Task {
  const cells = cellsOf(machine, expanded);
  const windows = exchangeWindows(machine, expanded);
  const task: Task = {
    operation: expanded,
    after: [...needed, ...pendingOn(cells)],
    cells,
    run: exchangeRun(machine, expanded, windows),
    started: false,
    done: false,
  };
  for (const cell of cells) cell.pending.push(task);
  machine.lanes.enqueue(task);
  return task;
}

function cellsOf(machine: Machine, { reads, writes }: ExpandedOperation): readonly Cell[] {
  const operands = [...reads, ...writes.map((write) => write.operand)];
  return [...new Set(operands.flatMap((operand) => (operand ? [machine.cells.window(operand).cell] : [])))];
}

const pendingOn = (cells: readonly Cell[]): readonly Pending[] => cells.flatMap((cell) => cell.pending);

function* waitFor(machine: Machine, tasks: readonly Pending[]): Waiting {
  machine.lanes.progress();
  while (tasks.some((task) => !task.done)) {
    yield;
    machine.port.throwIfStopped();
    machine.lanes.progress();
  }
}

function checkMemory(machine: Machine, operation: number): void {
  const live = machine.cells.liveBytes();
  machine.seenBytes[operation] = live;
  machine.record.peakBytes = Math.max(machine.record.peakBytes, live);
}

/** What was alive against the lifetimes of the program, with the rows that were counted in this period. */
function compareMemory({ record, rows, lifetimes, seenBytes }: Machine): void {
  const { live, peakBytes } = rows.bind(lifetimes);
  record.predictedPeakBytes = peakBytes;
  for (let operation = 0; operation < seenBytes.length; operation++) {
    const [seen, predicted] = [seenBytes[operation]!, live[operation] ?? 0];
    if (seen !== predicted) record.memoryDiffers.push({ operation, live: seen, predicted });
  }
  record.rows.push(rows.take());
}

/** The loss of the step is what the buffer holds at the end, after its sum over data. */
function recordLoss(machine: Machine): void {
  if (machine.record.loss === undefined) return;
  const loss = machine.lifetimes.residents.find(({ instance }) => instance.name === 'loss');
  if (!loss) return;
  const { cell } = machine.cells.window({ instance: loss.instance, dims: [] });
  machine.record.loss = cell.data[0];
}
