/** @file Writes the operations of one rank list out: calls become the operations of their templates, names of buffers
 * become instances. Order is the order of issue.
 */
import { assertInvariant } from '../errors/index.ts';
import { type ExpandedOperation, expandOperation, type WrittenList } from './expanded-operation.ts';
import { nameScope } from './names.ts';
import { replayList, replayOperations } from './replay/index.ts';
import type { Replay } from './replay/types.ts';
import type { Call, Program, RankList } from './types.ts';

/** A list with its operations. */
export interface ExpandedList extends WrittenList {
  /** The same as numbers, where it has not been changed since; ask {@link replayOf}. */
  readonly replay?: () => Replay;
  /** Answers a question about the list as it was compiled, each once. Whoever cuts it into turns asks so, and is not loaded with it. */
  readonly ask?: <Answer>(question: Question<Answer>) => Answer;
}

/** What is made of a list of a program; the function itself tells questions apart. */
export type Question<Answer> = (program: Program, list: RankList) => Answer;

/** The operations of a list, which are written out when somebody first looks at them: until then there are only numbers.
 *
 * Then throws an internal error when a name has no declaration: only our own passes can write such a program. */
export const expandList = (program: Program, list: RankList): ExpandedList => new LazyList(program, list);

/** Getters of a class, which copies by spread leave behind: a changed copy must bring operations of its own. */
class LazyList implements ExpandedList {
  readonly list: RankList;
  readonly #program: Program;
  #written: WrittenList | undefined;
  #replay: Replay | undefined;
  readonly #answers = new Map<Question<unknown>, unknown>();

  constructor(program: Program, list: RankList) {
    this.#program = program;
    this.list = list;
  }

  get operations(): WrittenList['operations'] {
    return this.#write().operations;
  }

  get instances(): WrittenList['instances'] {
    return this.#write().instances;
  }

  readonly replay = (): Replay => {
    this.#replay ??= replayList(this.#program, this.list);
    return this.#replay;
  };

  readonly ask = <Answer>(question: Question<Answer>): Answer => {
    if (!this.#answers.has(question)) this.#answers.set(question, question(this.#program, this.list));
    return this.#answers.get(question) as Answer;
  };

  #write(): WrittenList {
    this.#written ??= writeList(this.#program, this.list);
    return this.#written;
  }
}

/** A list as numbers. */
export const replayOf = (expanded: ExpandedList): Replay => expanded.replay?.() ?? replayOperations(expanded);

function writeList(program: Program, list: RankList): WrittenList {
  const scope = nameScope(program, list);
  const templates = new Map(program.templates.map((template) => [template.name, template]));
  const operations: ExpandedOperation[] = [];
  const lastOf = new Map<number, number>();
  for (const item of list.items) {
    const needs = item.needs.map((id) => {
      const end = lastOf.get(id);
      assertInvariant(
        end !== undefined,
        () => `line ${item.id} of ${list.name} needs line ${id}, which is not earlier`,
      );
      return end;
    });
    if (item.kind === 'operation') {
      operations.push(expandOperation(item.operation, scope, operations.length, item.id, needs, undefined, undefined));
    } else {
      const template = templates.get(item.template);
      assertInvariant(template !== undefined, () => `no template ${item.template}`);
      for (const block of blocksOf(item)) {
        for (const operation of template.operations) {
          operations.push(expandOperation(operation, scope, operations.length, item.id, needs, block, item));
        }
      }
    }
    lastOf.set(item.id, operations.length - 1);
  }
  return { list, operations, instances: scope.instances };
}

/** Blocks of a call in the order of execution. */
export function blocksOf(call: Call): readonly number[] {
  const step = call.last < call.first ? -1 : 1;
  return Array.from({ length: Math.abs(call.last - call.first) + 1 }, (_, index) => call.first + step * index);
}

export { type ExpandedOperation, type ExpandedWrite, type WrittenList } from './expanded-operation.ts';
export { bookedAxis, degreesOf, membersOf, partOf, spanOf } from './groups.ts';
export { boundaryName, boundaryOf, declaredName, type Instance, instanceName, type Operand } from './names.ts';
