/** @file Which operands of an operation can hold it back, and whose clocks anybody looks at later.
 *
 * Operations of a block are issued one after the other, and ends in a queue never go back. So what an earlier operation of the
 * block in the same queue has waited for needs no second look, and a clock that the block itself sets anew before anybody
 * looks at it need not be set. Worked out once for a sample; most operands of a block drop out.
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
}

/** `queue`: by sample. */
export function operandUse(replay: Replay, queue: Uint8Array): OperandUse {
  const { samples, blockOf } = replay;
  const asks: Row[] = samples.map(() => []);
  const leaves: Row[] = samples.map(() => []);
  let block: Block = new Map();
  for (let sample = 0; sample < samples.length; sample++) {
    if (blockOf[sample] === sample) {
      keepOpen(block, leaves);
      block = new Map();
    }
    addSample(replay, sample, queue[sample] as number, block, asks, leaves);
  }
  keepOpen(block, leaves);
  const [asked, left] = [packed(asks), packed(leaves)];
  return { asks: asked.rows, askFirst: asked.first, leaves: left.rows, leaveFirst: left.first };
}

type Row = number[];

/** A clock that an operation would set. */
interface Entry {
  readonly sample: number;
  readonly code: number;
}

/** What the block has done with a memory so far. */
interface Use {
  /** The last write of the block, until somebody waits for it. */
  write: Entry | undefined;
  /** The block has written it: nobody outside of the block has read it since. */
  isOwn: boolean;
  /** Queues that have waited for the last writer, or are its own. */
  readonly known: Set<number>;
  /** The last reader since in each queue; of the host, which keeps no order, each is by itself. */
  readonly readers: Map<number, Entry>;
}

/** By memory of the first of the block's operations. */
type Block = Map<number, Use>;

function addSample(replay: Replay, sample: number, queue: number, block: Block, asks: Row[], leaves: Row[]): void {
  const expanded = replay.samples[sample] as ExpandedOperation;
  if (takesNoTime(expanded.operation)) return;
  const first = replay.operandFirst[expanded.index] as number;
  const count = (replay.operandFirst[expanded.index + 1] as number) - first;
  const reads = readCount(expanded);
  const useOf = (place: number): Use => {
    const memory = replay.operands[first + place] as number;
    const use = block.get(memory) ?? { write: undefined, isOwn: false, known: new Set(), readers: new Map() };
    block.set(memory, use);
    return use;
  };
  const isOrdered = queue !== HOST_QUEUE;
  const row = asks[sample] as Row;
  for (let place = 0; place < count; place++) {
    const use = useOf(place);
    if (!isOrdered || !use.known.has(queue)) {
      row.push(2 * place);
      keepWrite(use, leaves);
    }
    if (place < reads) continue;
    if (isOrdered && use.isOwn && [...use.readers.keys()].every((other) => other === queue)) continue;
    row.push(2 * place + 1);
    keepReaders(use, leaves);
  }
  for (let place = 0; place < reads; place++) {
    const use = useOf(place);
    use.readers.set(isOrdered ? queue : -1 - sample, { sample, code: 2 * place });
    if (isOrdered) use.known.add(queue);
  }
  for (let place = reads; place < count; place++) {
    const use = useOf(place);
    use.write = { sample, code: 2 * place + 1 };
    use.isOwn = true;
    use.readers.clear();
    use.known.clear();
    if (isOrdered) use.known.add(queue);
  }
}

/** What a block leaves behind others may look at. */
function keepOpen(block: Block, leaves: Row[]): void {
  for (const use of block.values()) {
    keepWrite(use, leaves);
    keepReaders(use, leaves);
  }
}

function keepWrite(use: Use, leaves: Row[]): void {
  if (use.write) leaves[use.write.sample]?.push(use.write.code);
  use.write = undefined;
}

function keepReaders({ readers }: Use, leaves: Row[]): void {
  for (const { sample, code } of readers.values()) {
    const row = leaves[sample] as Row;
    if (!row.includes(code)) row.push(code);
  }
}

function packed(rows: readonly Row[]): { readonly rows: Uint16Array; readonly first: Uint32Array } {
  const first = new Uint32Array(rows.length + 1);
  rows.forEach((row, index) => {
    first[index + 1] = (first[index] as number) + row.length;
  });
  return { rows: Uint16Array.from(rows.flat()), first };
}
