/** @file One operation as the cells of a line: lane, verb, reads, writes, and the words after them. */
import { assertUnreachable } from '../../errors/index.ts';
import type { Collective, Item, Lane, Operation, Why, Write } from '../types.ts';
import { callEnds, callIndex, type Vocabulary } from './calls.ts';
import { nameWord, numberWord, valueWord, word } from './words.ts';

/** Axis of a lane that serves one; it is written only where it is another. */
export const axisOfLane: Readonly<Partial<Record<Lane, string>>> = {
  tensor: 'tensor',
  'data.gather': 'data',
  'data.reduce': 'data',
  'data.replicate': 'data.replicate',
  context: 'context',
  ends: 'ends',
  expert: 'expert',
};

/** Axis that a reason speaks of when it names none. */
const impliedAxis = (operation: Operation): string | undefined =>
  operation.kind === 'collective' ? operation.axis : undefined;

/** Whether a collective of this kind reduces, and so is a sum unless it says otherwise. */
export const reduces = (collective: string): boolean => collective === 'all-reduce' || collective === 'reduce-scatter';

/** Lane, verb, reads, writes, what else the line says, why: each of them one cell. */
export function operationCells(operation: Operation, needs: readonly number[] = []): readonly string[] {
  const tail = [[...ownTail(operation), ...needsTail(needs)], whyTail(operation)];
  const operands = operandCells(operation.reads, operation.writes);
  return [operation.lane, verbOf(operation), ...operands, ...tail.map((words) => words.join(' '))];
}

/** The cells of a line of a list, a call or an operation. */
export function itemCells(vocabulary: Vocabulary, item: Item): readonly string[] {
  if (item.kind === 'operation') return operationCells(item.operation, item.needs);
  const { reads, writes } = callEnds(vocabulary, item);
  const using = Object.entries(item.using ?? {}).map(([bucket, run]) => `${nameWord(bucket)}@${run}`);
  const own = [...(item.again ? ['again'] : []), ...(using.length > 0 ? ['using', ...using] : [])];
  const verb = `${nameWord(item.template)}${callIndex(vocabulary, item)}`;
  return ['compute', verb, ...operandCells(reads, writes), [...own, ...needsTail(item.needs)].join(' '), ''];
}

const operandCells = (reads: readonly string[], writes: readonly Write[]): readonly [reads: string, writes: string] => {
  if (reads.length === 0 && writes.length === 0) return ['', ''];
  const written = writes.map(({ buffer, accumulate }) => `${word(buffer)}${accumulate ? '+=' : ''}`);
  return [reads.map(word).join(' '), ['->', ...written].join(' ')];
};

function verbOf(operation: Operation): string {
  switch (operation.kind) {
    case 'compute':
      return operation.kernel;
    case 'collective':
      return collectiveVerb(operation);
    case 'host':
      return `host:${nameWord(operation.work)}`;
    case 'mark':
      return `mark:${nameWord(operation.phase)}`;
    case 'send':
    case 'recv':
    case 'wait':
    case 'alloc':
    case 'free':
      return operation.kind;
    default:
      return assertUnreachable(operation);
  }
}

/** `all-reduce:sum` names its operation, the others the dim that they gather or scatter. */
function collectiveVerb({ collective, reduce, dim }: Collective): string {
  const detail = collective === 'all-reduce' ? reduce : dim;
  return detail === undefined ? collective : `${collective}:${nameWord(detail)}`;
}

function ownTail(operation: Operation): readonly string[] {
  switch (operation.kind) {
    case 'compute':
      return Object.entries(operation.attributes ?? {}).map(([key, value]) => `${nameWord(key)}=${valueWord(value)}`);
    case 'collective':
      return collectiveTail(operation);
    case 'send':
      return ['to', `stage:${operation.peer}`];
    case 'recv':
      return ['from', `stage:${operation.peer}`];
    default:
      return [];
  }
}

/** Everything about a collective that is not as usual: over the axis of its lane, a plain sum, on a ring. */
function collectiveTail(operation: Collective): readonly string[] {
  const { collective, lane, axis, dim, reduce, accumulateIn, factor, algorithm, inner } = operation;
  const usual = reduces(collective) ? 'sum' : undefined;
  return [
    ...(axisOfLane[lane] === axis ? [] : ['over', nameWord(axis)]),
    ...(collective === 'all-reduce' && dim !== undefined ? ['dim', nameWord(dim)] : []),
    ...(collective !== 'all-reduce' && reduce !== usual ? ['reduce', reduce ?? 'nothing'] : []),
    ...(accumulateIn === undefined ? [] : ['in', accumulateIn]),
    ...(factor === 1 ? [] : ['factor', numberWord(factor)]),
    ...(algorithm === 'ring' ? [] : [algorithm]),
    ...(inner === undefined ? [] : ['inner', numberWord(inner)]),
  ];
}

/** `why gather-updated of b0`; the axis only where it is not the one of the exchange. */
function whyTail(operation: Operation): readonly string[] {
  const { rule, axis, bucket }: Why = operation.why;
  if (rule === 'model' && axis === undefined && bucket === undefined) return [];
  return [
    'why',
    rule,
    ...(axis === impliedAxis(operation) ? [] : ['on', axis === undefined ? '-' : nameWord(axis)]),
    ...(bucket === undefined ? [] : ['of', nameWord(bucket)]),
  ];
}

const needsTail = (needs: readonly number[]): readonly string[] =>
  needs.length === 0 ? [] : ['needs', ...needs.map(String)];
