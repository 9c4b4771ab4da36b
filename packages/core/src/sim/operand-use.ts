/** @file Which operands of an operation can hold it back, and whose clocks anybody looks at later.
 *
 * Ends in a queue never go back, and operations of a block are issued one after the other. So an operation that waits for
 * another knows that all before that one in its queue, and all that it has waited for, are done; and so does its own queue
 * from then on. What a queue knows to be done needs no look, and a clock that nobody looks at need not be set. Worked out
 * once for a sample; most operands drop out.
 */
import { type ExpandedOperation, type Replay, readCount } from '../program/index.ts';
import { takesNoTime } from './graph.ts';
import { HOST_QUEUE } from './lanes.ts';

/** By sample: rows of operands as twice their place among the operands of the operation, and 1 for the clock that `odd` says. */
export interface OperandUse {
  /** Clocks to wait for, from `askFirst` of the sample on. Odd: of the last readers; even: of the last writer. */
  readonly asks: Uint16Array;
  readonly askFirst: Uint32Array;
  /** Clocks to set, from `leaveFirst` of the sample on. Odd: of the last writer; even: of the last readers. */
  readonly leaves: Uint16Array;
  readonly leaveFirst: Uint32Array;
  /** By slot of memory, twice, for its last readers and for its last writer: 1 where operations of other blocks look at it. */
  readonly isSeenOutside: Uint8Array;
}

/** `queue`: by sample. */
export function operandUse(replay: Replay, queue: Uint8Array): OperandUse {
  const { samples, blockOf } = replay;
  const asks: Ask[][] = samples.map(() => []);
  const leaves: Row[] = samples.map(() => []);
  const knowers: Knowers = new Map();
  const input: Input = { replay, queue, slotOf: replay.owners().slotOf, asks, leaves };
  let block: Block = emptyBlock();
  for (let sample = 0; sample < samples.length; sample++) {
    if (blockOf[sample] === sample) {
      endBlock(input, block, knowers);
      block = emptyBlock();
    }
    addSample(input, sample, block);
  }
  endBlock(input, block, knowers);
  const needed = asks.map((row, sample) => row.filter((ask) => isNeeded(ask, queue[sample] as number, knowers)));
  const asked = packed(needed.map((row) => row.map(({ code }) => code)));
  const left = packed(thatAreAsked(input, new Set(needed.flatMap((row) => row.map(({ clock }) => clock)))));
  const isSeenOutside = new Uint8Array(2 * replay.owners().slots.length);
  for (const { clock, isOutside } of needed.flat()) if (isOutside) isSeenOutside[clock] = 1;
  return { asks: asked.rows, askFirst: asked.first, leaves: left.rows, leaveFirst: left.first, isSeenOutside };
}

type Row = number[];

interface Input {
  readonly replay: Replay;
  readonly queue: Uint8Array;
  readonly slotOf: Uint32Array;
  readonly asks: Ask[][];
  readonly leaves: Row[];
}

interface Ask {
  readonly code: number;
  /** Of the slot's memory: twice the slot, and 1 for the last writer. */
  readonly clock: number;
  /** Only what the block finds, nothing of its own, can be waited for. */
  readonly isOutside: boolean;
}

/** By clock: the queues that know all who move it to be done once their block is issued. */
type Knowers = Map<number, ReadonlySet<number>>;

/** The last operation in each queue that is known to be done, by its sample. */
type Knowledge = ReadonlyMap<number, number>;

/** An operation of the block that touches a memory. */
interface Entry {
  readonly sample: number;
  readonly queue: number;
  readonly code: number;
}

/** What the block has done with a memory so far. */
interface Use {
  /** The last writer of the block. */
  writer: Entry | undefined;
  /** Readers since. */
  readers: Entry[];
  /** Queues that have looked at what the block finds: at the last writer, and at the readers. */
  readonly haveSeenWriter: Set<number>;
  readonly haveSeenReaders: Set<number>;
}

interface Block {
  /** By memory of the first of the block's operations. */
  readonly uses: Map<number, Use>;
  /** By queue: what it knows behind its last operation. */
  readonly knows: Map<number, Knowledge>;
  /** By sample: what is known once it is done. */
  readonly tells: Map<number, Knowledge>;
}

const emptyBlock = (): Block => ({ uses: new Map(), knows: new Map(), tells: new Map() });

function addSample({ replay, queue, slotOf, asks, leaves }: Input, sample: number, block: Block): void {
  const expanded = replay.samples[sample] as ExpandedOperation;
  if (takesNoTime(expanded.operation)) return;
  const own = queue[sample] as number;
  const isOrdered = own !== HOST_QUEUE;
  const first = replay.operandFirst[expanded.index] as number;
  const count = (replay.operandFirst[expanded.index + 1] as number) - first;
  const reads = readCount(expanded);
  const known = new Map(isOrdered ? block.knows.get(own) : undefined);
  const isDone = ({ queue: other, sample: at }: Entry): boolean =>
    other !== HOST_QUEUE && (known.get(other) ?? Number.NEGATIVE_INFINITY) >= at;
  const waitFor = (entry: Entry): void => {
    keep(leaves, entry);
    for (const [other, at] of block.tells.get(entry.sample) ?? []) {
      if (at > (known.get(other) ?? Number.NEGATIVE_INFINITY)) known.set(other, at);
    }
  };
  const useOf = (place: number): Use => useIn(block, replay.operands[first + place] as number);
  const ask = (place: number, isWritten: boolean, isOutside: boolean): void => {
    const slot = slotOf[replay.operands[first + place] as number] as number;
    const code = 2 * place + (isWritten ? 0 : 1);
    (asks[sample] as Ask[]).push({ code, clock: 2 * slot + (isWritten ? 1 : 0), isOutside });
  };
  for (let place = 0; place < count; place++) {
    const { writer, readers, haveSeenWriter, haveSeenReaders } = useOf(place);
    if (writer === undefined && !haveSeenWriter.has(own)) ask(place, true, true);
    if (writer !== undefined && !isDone(writer)) {
      ask(place, true, false);
      waitFor(writer);
    }
    if (isOrdered) haveSeenWriter.add(own);
    if (place < reads) continue;
    const open = readers.filter((reader) => !isDone(reader));
    const isFound = writer === undefined && !haveSeenReaders.has(own);
    if (open.length > 0 || isFound) ask(place, false, open.length === 0);
    open.forEach(waitFor);
    if (isOrdered) haveSeenReaders.add(own);
  }
  for (let place = 0; place < reads; place++) useOf(place).readers.push({ sample, queue: own, code: 2 * place });
  for (let place = reads; place < count; place++) {
    const use = useOf(place);
    use.writer = { sample, queue: own, code: 2 * place + 1 };
    use.readers = [];
  }
  if (isOrdered) {
    known.set(own, sample);
    block.knows.set(own, known);
  }
  block.tells.set(sample, known);
}

function useIn({ uses }: Block, memory: number): Use {
  const known = uses.get(memory);
  if (known !== undefined) return known;
  const made = {
    writer: undefined,
    readers: [],
    haveSeenWriter: new Set<number>(),
    haveSeenReaders: new Set<number>(),
  };
  uses.set(memory, made);
  return made;
}

function keep(leaves: Row[], { sample, code }: Entry): void {
  const row = leaves[sample] as Row;
  if (!row.includes(code)) row.push(code);
}

/** What a block leaves behind others may look at; who knows it to be done need not. */
function endBlock({ slotOf, leaves }: Input, { uses, knows }: Block, knowers: Knowers): void {
  const moved = (clock: number, { queue, sample }: Entry): void => {
    const now = [...knows].filter(([, known]) => (known.get(queue) ?? Number.NEGATIVE_INFINITY) >= sample);
    const names = queue === HOST_QUEUE ? [] : now.map(([name]) => name);
    const before = knowers.get(clock);
    knowers.set(clock, new Set(before === undefined ? names : names.filter((name) => before.has(name))));
  };
  for (const [memory, { writer, readers }] of uses) {
    const slot = slotOf[memory] as number;
    for (const entry of writer === undefined ? readers : [writer, ...readers]) {
      keep(leaves, entry);
      moved(2 * slot + (entry === writer ? 1 : 0), entry);
    }
  }
}

/** Whether the clock may be later than what the queue knows. */
function isNeeded({ clock, isOutside }: Ask, queue: number, knowers: Knowers): boolean {
  if (!isOutside) return true;
  const known = knowers.get(clock);
  return known !== undefined && (queue === HOST_QUEUE || !known.has(queue));
}

/** Without the clocks of memory that no operation looks at. */
function thatAreAsked({ replay, slotOf, leaves }: Input, asked: ReadonlySet<number>): readonly Row[] {
  const { samples, operands, operandFirst } = replay;
  return leaves.map((row, sample) => {
    const first = operandFirst[(samples[sample] as ExpandedOperation).index] as number;
    return row.filter((code) =>
      asked.has(2 * (slotOf[operands[first + (code >> 1)] as number] as number) + (code & 1)),
    );
  });
}

function packed(rows: readonly Row[]): { readonly rows: Uint16Array; readonly first: Uint32Array } {
  const first = new Uint32Array(rows.length + 1);
  rows.forEach((row, index) => {
    first[index + 1] = (first[index] as number) + row.length;
  });
  return { rows: Uint16Array.from(rows.flat()), first };
}
