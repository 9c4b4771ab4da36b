/** @file Typestate of one list over one period of the cyclic schedule. The state of resident weights at the start is the
 * one that the period leaves: the list is walked once to find it, and once more to report.
 */
import { assertUnreachable } from '../../errors/index.ts';
import type { Degrees } from '../../tensor/index.ts';
import type { ExpandedList, ExpandedOperation } from '../expand.ts';
import { kernels } from '../kernels/index.ts';
import type { Program } from '../types.ts';
import { applyCollective } from './collectives.ts';
import { checkPlaces, copyIn, copyOut } from './host.ts';
import { applyKernel } from './kernels.ts';
import { applyVariadic, incomplete } from './optimizer.ts';
import { complete, wordsOf } from './partial.ts';
import type { Report } from './report.ts';
import { carriedStates, createStates } from './state.ts';
import { createKernelTyping } from './typing.ts';
import { readComplete, type Walk, writePlain } from './walk.ts';

/** Reports everything that the states of buffers refuse in one list. */
export function verifyPeriod(program: Program, expanded: ExpandedList, degrees: Degrees, report: Report): void {
  const { list } = expanded;
  const typeKernel = createKernelTyping(degrees);
  const walkOnce = (carried: ReadonlyMap<string, readonly string[]>, find: Walk['find']): Walk => {
    const walk: Walk = {
      program,
      list,
      degrees,
      states: createStates(list, carried, degrees),
      typeKernel,
      find,
      unread: new Map(),
      counted: new Set(),
      updated: new Set(),
      awaited: new Set(),
      norms: new Set(),
    };
    for (const operation of expanded.operations) apply(walk, operation);
    return walk;
  };
  const first = walkOnce(new Map(), () => undefined);
  const second = walkOnce(carriedStates(list, first.states), (operation, finding) =>
    report.at(list.name, operation, finding),
  );
  checkEnd(second, report);
}

function apply(walk: Walk, expanded: ExpandedOperation): void {
  const { operation } = expanded;
  checkPlaces(walk, expanded);
  switch (operation.kind) {
    case 'compute':
      if (operation.kernel === 'copy-out') copyOut(walk, expanded);
      else if (operation.kernel === 'copy-in') copyIn(walk, expanded);
      else if (kernels[operation.kernel].variadic) applyVariadic(walk, expanded, operation);
      else applyKernel(walk, expanded, operation);
      return;
    case 'collective':
      return applyCollective(walk, expanded, operation);
    case 'send':
    case 'recv':
    case 'wait':
    case 'host':
      for (const read of expanded.reads) if (read) readComplete(walk, expanded, read);
      for (const write of expanded.writes) writePlain(walk, expanded, write, complete);
      return;
    case 'mark':
    case 'alloc':
    case 'free':
      return;
    default:
      return assertUnreachable(operation);
  }
}

/** Law: every bucket that is trained is updated, and what the period leaves is complete. */
function checkEnd(walk: Walk, report: Report): void {
  for (const { name, frozen } of walk.list.buckets) {
    if (frozen) {
      if (walk.updated.has(name)) report.on(walk.list.name, incomplete(name, 'it is frozen and is updated'));
      continue;
    }
    if (walk.awaited.has(name)) {
      report.on(walk.list.name, incomplete(name, 'its new weights stay in host memory'));
    }
    if (!walk.updated.has(name)) report.on(walk.list.name, incomplete(name, 'it is not updated'));
  }
  for (const [name, operation] of walk.unread) {
    const partial = walk.states.plain.get(name)?.partial ?? complete;
    if (partial.length > 0) {
      report.at(walk.list.name, operation, {
        code: 'RESULT_PARTIAL',
        message: `${name} is what the period leaves: it is ${wordsOf(partial)}.`,
        hint: `Reduce it over ${partial.map(({ over }) => over).join(' and ')}.`,
      });
    } else if (walk.states.buckets.has(name)) {
      report.at(walk.list.name, operation, {
        code: 'GRADIENT_UNUSED',
        message: `${name} is written: nothing reduces it or updates weights with it.`,
        hint: 'Reduce it, or give it to the optimizer.',
      });
    } else if (isWasted(operation, name, walk)) {
      report.at(walk.list.name, operation, {
        code: 'WRITTEN_NEVER_READ',
        severity: 'note',
        message: `${name} is written: nothing reads it.`,
        hint: 'Leave the operation out.',
      });
    }
  }
}

/** Activations and exchanges are there to be read; scalars are results, and forward once more makes what it makes. */
function isWasted({ again, writes }: ExpandedOperation, name: string, { unread }: Walk): boolean {
  // A kernel that makes several things is there for those that are read.
  if (writes.some(({ operand }) => !unread.has(operand.instance.name))) return false;
  const declaration = writes.find((write) => write.operand.instance.name === name)?.operand.instance.declaration;
  return !again && (declaration?.role === 'activation' || declaration?.role === 'exchange');
}
