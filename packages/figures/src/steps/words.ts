/** @file The words of a step: what happens where, and why. Reasons are the program's own (`renderWhy`). */
import {
  type Collective,
  collectiveBytes,
  degreesOf,
  type ExpandedList,
  type ExpandedOperation,
  type Program,
  paddedBytes,
  renderWhy,
  sentBytes,
} from '@meshwright/core/program';
import { bytes, formatBytes } from '@meshwright/core/units';
import { hopsOf } from './links.ts';
import type { OrderedStep } from './order.ts';
import { directionsOf } from './schedule.ts';

/** Parts of a period as people speak of them. `open`: updated weights travel before anybody computes. */
export type Phase = 'open' | 'forward' | 'backward' | 'update';

/** A step in words. */
export interface Caption {
  /** `Backward, layer 6`. */
  readonly head: string;
  /** One sentence. */
  readonly sentence: string;
}

/** The closed form of one exchange with its numbers, and what the program counts. */
export interface Sum {
  readonly formula: string;
  readonly law: number;
  readonly counted: number;
}

interface Told {
  readonly phase: Phase;
  readonly caption: Caption;
  /** What a list does in this step, or waits for. */
  doing(list: number, done: Uint8Array): string;
}

/** Whether backward and the update have begun; set by {@link captionBook} as it goes along. */
export interface Seen {
  backward: boolean;
  tail: boolean;
}

/** Writes the captions of the steps of a program, one after the other. */
export function captionBook(program: Program, lists: readonly ExpandedList[]): (step: OrderedStep, seen: Seen) => Told {
  const directions = lists.map((list) => directionsOf(program, list));
  return (step, seen) => {
    const told = step.parts.flatMap(({ list, operations }): readonly ToldPart[] => {
      const first = lists[list]?.operations[operations[0] ?? 0];
      return first ? [{ list, first, operations, direction: directions[list]?.(first) }] : [];
    });
    const phase = phaseOf(step, told[0], seen);
    const computing = step.key === 'compute';
    const sentences = told.map((part) =>
      computing
        ? computeWords(program, lists[part.list] as ExpandedList, part)
        : renderWhy(part.first.operation.why, contextOf(program, part.first)),
    );
    return {
      phase,
      caption: {
        head: headOf(program, phase, told, computing),
        sentence: computing ? together(program, told, sentences) : exchangeWords(program, told, sentences),
      },
      doing: (list, done) => {
        const at = told.findIndex((each) => each.list === list);
        const own = told[at];
        if (own) return computing ? (sentences[at]?.split(', because')[0] ?? '') : exchangeInShort(own.first);
        return waitsFor(program, lists[list] as ExpandedList, done);
      },
    };
  };
}

interface ToldPart {
  readonly list: number;
  readonly first: ExpandedOperation;
  readonly operations: readonly number[];
  readonly direction: 'forward' | 'backward' | undefined;
}

function phaseOf({ key }: OrderedStep, part: ToldPart | undefined, seen: Seen): Phase {
  const rule = part?.first.operation.why.rule;
  if (key === 'compute' && part?.direction === 'backward') seen.backward = true;
  if (rule === 'optimizer' || rule === 'global-norm') seen.tail = true;
  if (seen.tail) return 'update';
  if (rule === 'gather-updated' && !seen.backward) return 'open';
  return seen.backward ? 'backward' : 'forward';
}

const phaseWords: Readonly<Record<Phase, string>> = {
  open: 'Before forward',
  forward: 'Forward',
  backward: 'Backward',
  update: 'Update',
};

function headOf({ layers }: Program, phase: Phase, told: readonly ToldPart[], computing: boolean): string {
  const blocks = [...new Set(told.map(({ first }) => first.block))];
  const [block] = blocks;
  const { rule, bucket } = told[0]?.first.operation.why ?? {};
  if (rule === 'next-stage' || rule === 'previous-stage') return `${phaseWords[phase]}, between stages`;
  if (blocks.length === 1 && block !== undefined) return `${phaseWords[phase]}, ${blockWords(block, layers)}`;
  if (blocks.length > 1) return `${phaseWords[phase]}, ${told.length} stages side by side`;
  if (computing && rule === 'optimizer') return 'Update, the optimizer';
  return bucket === undefined ? phaseWords[phase] : `${phaseWords[phase]}, bucket ${bucket}`;
}

const blockWords = (block: number, layers: number): string =>
  block < 0 ? 'embedding' : block >= layers ? 'head and loss' : `layer ${block}`;

/** What one list computes in a piece. */
function computeWords(
  { layers, microBatches }: Program,
  { operations }: ExpandedList,
  { first, operations: indices, direction }: ToldPart,
): string {
  if (direction === undefined || first.block === undefined) {
    return renderWhy(first.operation.why, { operation: first.operation });
  }
  const blocks = indices.flatMap((index) => operations[index]?.block ?? []);
  const way = first.again ? 'forward again' : direction;
  const micro = microBatches > 1 ? `, micro-batch ${first.microBatch}` : '';
  return `computes ${rangeWords(Math.min(...blocks), Math.max(...blocks), layers)} ${way}${micro}`;
}

/** `the embedding and layers 0 to 3`. */
function rangeWords(from: number, to: number, layers: number): string {
  const [first, last] = [Math.max(0, from), Math.min(layers - 1, to)];
  const middle = first > last ? '' : first === last ? `layer ${first}` : `layers ${first} to ${last}`;
  return [from < 0 ? 'the embedding' : '', middle, to >= layers ? 'the head and the loss' : '']
    .filter((each) => each !== '')
    .join(' and ');
}

/** `Every GPU computes ...`, or stage by stage; many stages by direction. */
function together(program: Program, told: readonly ToldPart[], sentences: readonly string[]): string {
  if (program.lists.length === 1) return `Every GPU ${sentences[0] ?? ''}.`;
  const stageOf = ({ list }: ToldPart): number => program.lists[list]?.pipeline ?? 0;
  if (told.length <= 2) return sentence(told.map((part, index) => `stage ${stageOf(part)} ${sentences[index]}`));
  const ways = (['forward', 'backward'] as const).flatMap((way) => {
    const parts = told.filter(({ direction }) => direction === way);
    if (parts.length === 0) return [];
    const [stages, micro] = [parts.map(stageOf).join(', '), parts.map(({ first }) => first.microBatch).join(', ')];
    return [
      `${parts.length === 1 ? `stage ${stages} computes` : `stages ${stages} compute`} ${way}, micro-batch ${micro}`,
    ];
  });
  return sentence(ways.length > 0 ? ways : [`every stage ${sentences[0]}`]);
}

const sentence = (parts: readonly string[]): string => {
  const text = parts.join('; ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
};

function exchangeWords(program: Program, told: readonly ToldPart[], sentences: readonly string[]): string {
  const at = told.findIndex(({ first }) => first.operation.kind !== 'recv');
  const first = told[at];
  if (!first) return '';
  const does = sentences[at] ?? '';
  if (program.lists.length === 1) return `Every GPU ${does}.`;
  const more = told.filter(({ first: each }) => each.operation.kind !== 'recv').length - 1;
  const sends = first.first.operation.kind === 'send';
  if (!sends && more + 1 === program.lists.length) return `Every GPU ${does}.`;
  const others =
    more === 0 ? '' : `; so ${more === 1 ? 'does one other stage' : `do ${more} other stages`}, with what they have`;
  return `Stage ${program.lists[first.list]?.pipeline} ${does}${others}.`;
}

function exchangeInShort({ operation }: ExpandedOperation): string {
  if (operation.kind === 'send') return `sends to stage ${operation.peer}`;
  if (operation.kind === 'recv') return `receives from stage ${operation.peer}`;
  return operation.kind === 'collective' ? `${operation.collective} over ${operation.axis}` : '';
}

const contextOf = ({ layers }: Program, { operation, block, microBatch }: ExpandedOperation) => ({
  operation,
  layers,
  ...(block !== undefined && { block }),
  ...(microBatch !== undefined && { microBatch }),
});

/** What a list that takes no part in a step is about to need. */
function waitsFor(program: Program, { operations }: ExpandedList, done: Uint8Array): string {
  const next = operations.find(({ index, operation }) => operation.kind === 'compute' && done[index] === 0);
  if (!next) return 'is done';
  for (let index = next.index - 1; index >= 0; index--) {
    const { operation, writes } = operations[index] as ExpandedOperation;
    if (operation.kind !== 'recv' || done[index] !== 0) continue;
    const written = writes[0]?.operand.instance;
    const isRead = operations
      .slice(next.index, next.index + LOOKED_AT)
      .some(({ item, reads }) => item === next.item && reads.some((read) => read?.instance === written));
    if (isRead) return `waits for stage ${program.lists.length > 1 ? operation.peer : 0}`;
  }
  return 'waits';
}

/** Operations of an invocation among which one reads what was received: a gather or the first norm. */
const LOOKED_AT = 16;

/** The closed form of the exchange of a step, for a rank of its first part that sends. */
export function sumOf(program: Program, lists: readonly ExpandedList[], { parts, key }: OrderedStep): Sum | undefined {
  const operations = parts.flatMap(({ list, operations: own }) => own.map((each) => lists[list]?.operations[each]));
  const expanded = operations.find((each) => each !== undefined && each.operation.kind !== 'recv');
  if (key === 'compute' || !expanded) return undefined;
  const degrees = degreesOf(program);
  const counted = sentBytes(expanded, degrees);
  const { operation } = expanded;
  if (operation.kind !== 'collective')
    return { formula: `one message of ${formatBytes(bytes(counted))}`, law: counted, counted };
  const whole = paddedBytes(operation, expanded, degrees);
  const degree = degrees(operation.axis);
  const { collective, algorithm } = operation;
  const law = collectiveBytes(collective, algorithm, degree, whole);
  const steps = hopsOf(operation, degree);
  const factor = factorOf(operation, degree);
  return {
    formula: `${factor}${formatBytes(bytes(whole))} = ${formatBytes(bytes(law))} in ${steps} ${steps === 1 ? 'hop' : 'hops'}`,
    law,
    counted,
  };
}

/** What the whole buffer is multiplied with; none where it is sent as it is. */
function factorOf({ collective, algorithm }: Collective, degree: number): string {
  if (collective === 'shift' || collective === 'broadcast') return '';
  if (algorithm === 'direct' && collective === 'all-reduce') return `(${degree} - 1) x `;
  return `${collective === 'all-reduce' ? '2 x ' : ''}(${degree} - 1)/${degree} x `;
}
