/** @file One rank list as numbers: its templates replayed as typed arrays, without an object or a name for each operation.
 *
 * Operations of a template in one block do the same for every micro-batch, and so do lines that differ in the micro-batch
 * only. Of each such kind there is one sample, written out; an operation is the number of its sample and the numbers of
 * the memory that it touches. Millions of operations are priced, ordered and placed from these.
 */
import { assertInvariant } from '../../errors/index.ts';
import { type ExpandedOperation, expandOperation, type WrittenList } from '../expanded-operation.ts';
import { type NameScope, nameScope } from '../names.ts';
import { storagesOf } from '../storage.ts';
import type { Call, ListOperation, Operation, Program, RankList, Template } from '../types.ts';
import { createMemories, type Memories, type Place } from './memories.ts';
import { alikeLines, isSlice, type Sample } from './samples.ts';
import type { Replay } from './types.ts';

/** How many of the operands of an operation are read. */
export const readCount = ({ reads }: ExpandedOperation): number => {
  let count = 0;
  for (const read of reads) if (read !== undefined) count += 1;
  return count;
};

/** Replays a list of a program. Throws an internal error for names without a declaration, as `expandList` does. */
export function replayList(program: Program, list: RankList): Replay {
  const book = createBook(program, list);
  const templates = new Map(program.templates.map((template) => [template.name, template]));
  const templateOf = (name: string): Template => {
    const template = templates.get(name);
    assertInvariant(template !== undefined, () => `no template ${name}`);
    return template;
  };
  let length = 0;
  for (const item of list.items) {
    length += item.kind === 'call' ? blockCount(item) * templateOf(item.template).operations.length : 1;
  }
  const rows = createRows(list, length);
  const ends = createEnds(list, rows);
  for (const [line, item] of list.items.entries()) {
    ends.needs(line, item.id, item.needs);
    if (item.kind === 'operation') rows.line(book.lineOf(item, rows.at()));
    else {
      const template = templateOf(item.template);
      const step = item.last < item.first ? -1 : 1;
      for (let block = item.first; block !== item.last + step; block += step) {
        rows.block(book.blockOf(template, block, item, rows.at()), item, book.memories);
      }
    }
    ends.ended(line, item.id);
  }
  const owners = lazily(() => book.memories.owners());
  return { ...rows.finish(), samples: book.samples, memories: book.memories.count(), owners };
}

const blockCount = ({ first, last }: Call): number => Math.abs(last - first) + 1;

function lazily<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Operations of a template in one block, ready to be replayed. */
interface BlockForm {
  /** Sample of the first operation; the others follow. */
  readonly sample: number;
  readonly length: number;
  /** By operation, and one more: where its operands begin. */
  readonly starts: Uint32Array;
  /** By operand: a memory, or where the memory of micro-batch 0 is. */
  readonly base: Uint32Array;
  /** By operand: 1 where the micro-batch is added. */
  readonly moves: Uint8Array;
  /** Operands that a call may read as one of several gathered copies. */
  readonly copies: readonly { readonly at: number; readonly bucket: string; readonly place: Place }[];
}

interface LineForm {
  readonly sample: number;
  readonly places: readonly Place[];
  readonly memories: Memories;
}

interface Book {
  readonly samples: ExpandedOperation[];
  readonly memories: Memories;
  blockOf(template: Template, block: number, call: Call, at: number): BlockForm;
  lineOf(item: ListOperation, at: number): LineForm;
}

function createBook(program: Program, list: RankList): Book {
  const memories = createMemories(program, list);
  const scope = nameScope(program, list);
  const samples: ExpandedOperation[] = [];
  const forms = new Map<Template, Map<number, BlockForm>>();
  const lines = new Map<Place['slot'] | undefined, Sample[]>();
  const blockOf: Book['blockOf'] = (template, block, call, at) => {
    let ofTemplate = forms.get(template);
    if (ofTemplate === undefined) {
      ofTemplate = new Map();
      forms.set(template, ofTemplate);
    }
    const key = block * 2 + (call.again ? 1 : 0);
    const known = ofTemplate.get(key);
    if (known !== undefined) return known;
    const sample = samples.length;
    template.operations.forEach((operation, index) => {
      samples.push(expandOperation(operation, scope, at + index, call.id, [], block, call));
    });
    const form = formOf(samples, sample, memories);
    ofTemplate.set(key, form);
    return form;
  };
  const lineOf: Book['lineOf'] = ({ operation, id }, at) => {
    const places = placesOf(operation, memories);
    const first = places[0]?.slot;
    const known = lines.get(first) ?? [];
    for (const each of known) if (alikeLines(each, operation, places)) return { sample: each.index, places, memories };
    const sample = samples.length;
    samples.push(lineSample(operation, scope, at, id));
    known.push({ index: sample, operation: samples[sample] as ExpandedOperation, places });
    lines.set(first, known);
    return { sample, places, memories };
  };
  return { samples, memories, blockOf, lineOf };
}

const lineSample = (operation: Operation, scope: NameScope, at: number, id: number): ExpandedOperation =>
  expandOperation(operation, scope, at, id, [], undefined, undefined);

function placesOf({ reads, writes }: Operation, memories: Memories): readonly Place[] {
  const places: Place[] = [];
  const add = (name: string): void => {
    places.push(memories.placeOf(isSlice(name) ? name.slice(0, -'.summed'.length) : name));
  };
  for (const name of reads) if (name !== 'none') add(name);
  for (const { buffer } of writes) add(buffer);
  return places;
}

function formOf(samples: readonly ExpandedOperation[], from: number, memories: Memories): BlockForm {
  const starts = [0];
  const base: number[] = [];
  const moves: number[] = [];
  const copies: { at: number; bucket: string; place: Place }[] = [];
  for (let at = from; at < samples.length; at++) {
    const { reads, writes } = samples[at] as ExpandedOperation;
    for (const operand of [...reads, ...writes.map((write) => write.operand)]) {
      if (operand === undefined) continue;
      const { name, declaration } = operand.instance;
      const { bucket } = declaration;
      // Weights are placed without the copy that the call at hand reads: the next one reads another.
      const place = memories.placeOf(declaration.role === 'weight' ? name.replace(/@\d+$/, '') : name);
      if (declaration.role === 'weight' && bucket !== undefined) copies.push({ at: base.length, bucket, place });
      const isEach = place.each === 'micro-batch';
      base.push(isEach ? place.slot.first : memories.memoryOf(place));
      moves.push(isEach ? 1 : 0);
    }
    starts.push(base.length);
  }
  return {
    sample: from,
    length: samples.length - from,
    starts: Uint32Array.from(starts),
    base: Uint32Array.from(base),
    moves: Uint8Array.from(moves),
    copies,
  };
}

/** The arrays of a replay while they are filled. */
interface Rows {
  at(): number;
  block(form: BlockForm, call: Call, memories: Memories): void;
  line(form: LineForm): void;
  readonly lineFirst: Uint32Array;
  needs: number[];
  readonly needFirst: Uint32Array;
  finish(): Omit<Replay, 'samples' | 'memories' | 'owners'>;
}

function createRows(list: RankList, length: number): Rows {
  const sampleOf = new Uint32Array(length);
  const operandFirst = new Uint32Array(length + 1);
  let operands = new Uint32Array(4 * length + 16);
  let at = 0;
  let filled = 0;
  const room = (more: number): void => {
    if (filled + more <= operands.length) return;
    const grown = new Uint32Array(2 * (filled + more));
    grown.set(operands);
    operands = grown;
  };
  const needs: number[] = [];
  const lineFirst = new Uint32Array(list.items.length + 1);
  const needFirst = new Uint32Array(list.items.length + 1);
  return {
    at: () => at,
    needs,
    lineFirst,
    needFirst,
    block: ({ sample, length: count, starts, base, moves, copies }, { microBatch, using }, memories) => {
      room(base.length);
      for (let index = 0; index < count; index++) {
        sampleOf[at] = sample + index;
        operandFirst[at] = filled + (starts[index] as number);
        at += 1;
      }
      for (let index = 0; index < base.length; index++) {
        operands[filled + index] = (base[index] as number) + (moves[index] as number) * microBatch;
      }
      if (using !== undefined) {
        for (const each of copies) {
          const copy = using[each.bucket];
          if (copy !== undefined) operands[filled + each.at] = memories.copyOf(each.place, copy);
        }
      }
      filled += base.length;
      operandFirst[at] = filled;
    },
    line: ({ sample, places, memories }) => {
      room(places.length);
      sampleOf[at] = sample;
      for (const place of places) operands[filled++] = memories.memoryOf(place);
      at += 1;
      operandFirst[at] = filled;
    },
    finish: () => ({
      list,
      length,
      sampleOf,
      operandFirst,
      operands: operands.subarray(0, filled),
      lineFirst,
      needs: Uint32Array.from(needs),
      needFirst,
    }),
  };
}

/** Needs of lines: from numbers of lines to their last operations. */
function createEnds(list: RankList, rows: Rows) {
  const lastOf: number[] = [];
  return {
    needs: (line: number, id: number, needed: readonly number[]): void => {
      for (const other of needed) {
        const end = lastOf[other];
        assertInvariant(
          end !== undefined,
          () => `line ${id} of ${list.name} needs line ${other}, which is not earlier`,
        );
        rows.needs.push(end);
      }
      rows.needFirst[line + 1] = rows.needs.length;
    },
    ended: (line: number, id: number): void => {
      lastOf[id] = rows.at() - 1;
      rows.lineFirst[line + 1] = rows.at();
    },
  };
}

/** The replay of a list whose operations are written out already, and perhaps changed: each is its own sample. */
export function replayOperations(expanded: WrittenList): Replay {
  const { list, operations } = expanded;
  const { owners, numberOf } = storagesOf(expanded);
  const operands: number[] = [];
  const needs: number[] = [];
  const operandFirst = new Uint32Array(operations.length + 1);
  const needFirst = new Uint32Array(operations.length + 1);
  operations.forEach(({ reads, writes, needs: own }, index) => {
    for (const read of reads) if (read) operands.push(numberOf(read.instance));
    for (const { operand } of writes) operands.push(numberOf(operand.instance));
    needs.push(...own);
    operandFirst[index + 1] = operands.length;
    needFirst[index + 1] = needs.length;
  });
  const count = Uint32Array.from({ length: operations.length + 1 }, (_, index) => index);
  return {
    list,
    length: operations.length,
    samples: operations,
    sampleOf: count.subarray(0, operations.length),
    operands: Uint32Array.from(operands),
    operandFirst,
    memories: owners.length,
    owners: () => ({
      slots: owners.map(({ name, declaration }, first) => ({
        index: first,
        text: name,
        owner: declaration,
        first,
        further: new Map(),
      })),
      slotOf: Uint32Array.from(owners, (_, index) => index),
      instanceOf: (memory) => owners[memory] as (typeof owners)[number],
    }),
    lineFirst: count,
    needs: Uint32Array.from(needs),
    needFirst,
  };
}

export { parted as tagOfInstance } from './memories.ts';
export type { Owners, Replay, Slot } from './types.ts';
