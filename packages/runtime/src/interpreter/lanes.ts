/** @file Exchanges in flight: one queue for each lane, in order. The head of a lane moves on whenever its rank looks. */
import type { ExpandedOperation, Lane } from '@meshwright/core/program';
import type { Waiting } from '../transport/circle.ts';
import type { Cell, Pending } from './cells.ts';

/** One exchange from issue to end. */
export interface Task extends Pending {
  readonly operation: ExpandedOperation;
  /** What must end before it starts: earlier exchanges on its buffers, and extra edges of the program. */
  readonly after: readonly Pending[];
  readonly cells: readonly Cell[];
  readonly run: Waiting;
  started: boolean;
  done: boolean;
}

/** An operation failed; `reason` is what went wrong. */
export class OperationError extends Error {
  readonly operation: ExpandedOperation;
  readonly reason: string;
  constructor(operation: ExpandedOperation, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(reason, { cause });
    this.name = 'OperationError';
    this.operation = operation;
    this.reason = reason;
  }
}

export interface Lanes {
  readonly enqueue: (task: Task) => void;
  /** Moves the head of every lane as far as it goes without waiting. */
  readonly progress: () => void;
  /** The exchanges that are not over, heads first. */
  readonly waiting: () => readonly Task[];
}

/** `note` is told when an exchange starts, each time that it moves on, and when it ends. */
export function createLanes(note: (task: Task, event: 'start' | 'turn' | 'end') => void): Lanes {
  const queues = new Map<Lane, Task[]>();
  const step = (task: Task): boolean => {
    if (!task.after.every((each) => each.done)) return false;
    if (!task.started) {
      task.started = true;
      note(task, 'start');
    }
    note(task, 'turn');
    if (!task.run.next().done) return false;
    task.done = true;
    for (const cell of task.cells) cell.pending = cell.pending.filter((each) => each !== task);
    note(task, 'end');
    return true;
  };
  const advance = (queue: Task[]): boolean => {
    let moved = false;
    for (let head = queue[0]; head !== undefined; head = queue[0]) {
      if (!attributed(head, () => step(head))) return moved;
      queue.shift();
      moved = true;
    }
    return moved;
  };
  return {
    enqueue: (task) => {
      const queue = queues.get(task.operation.operation.lane);
      if (queue) queue.push(task);
      else queues.set(task.operation.operation.lane, [task]);
    },
    progress: () => {
      while ([...queues.values()].map(advance).some((moved) => moved));
    },
    waiting: () => [...queues.values()].flat(),
  };
}

/** Runs `work`; what it throws says which operation it was. */
export function attributed<Result>(
  { operation }: { readonly operation: ExpandedOperation },
  work: () => Result,
): Result {
  try {
    return work();
  } catch (cause) {
    throw cause instanceof OperationError ? cause : new OperationError(operation, cause);
  }
}
