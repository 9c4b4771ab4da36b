/** @file A rank list as numbers: what operations do, and which memory they touch. */
import type { ExpandedOperation } from '../expanded-operation.ts';
import type { Instance } from '../names.ts';
import type { BufferDeclaration, RankList } from '../types.ts';

/** Buffers that differ in nothing but the micro-batch, or the gathered copy; a shard in place is its buffer. */
export interface Slot {
  readonly index: number;
  /** The name of the owner up to that number: `n1[2,`, `x3[`, `W.body@`, `loss`. */
  readonly text: string;
  /** What owns the memory. */
  readonly owner: BufferDeclaration;
  /** Number of the memory of micro-batch 0, or of the only one. */
  readonly first: number;
  /** By number of the gathered copy, and of micro-batches that the program does not have. */
  readonly further: Map<number, number>;
}

/** What owns each memory. */
export interface Owners {
  readonly slots: readonly Slot[];
  /** Index of the slot, by memory. */
  readonly slotOf: Uint32Array;
  instanceOf(memory: number): Instance;
}

/** A list as struct of arrays. Operations are numbered in the order of issue. */
export interface Replay {
  readonly list: RankList;
  readonly length: number;
  /** One operation of each kind; its index, line, needs and micro-batch are those of the first of its kind. */
  readonly samples: readonly ExpandedOperation[];
  /** By sample: the first sample of its block, whose operations are always issued one after the other; a line that is no
   * call is a block of its own. */
  readonly blockOf: Uint32Array;
  /** By operation. */
  readonly sampleOf: Uint32Array;
  /** Memory that an operation reads, then that it writes, from `operandFirst` of it on. */
  readonly operands: Uint32Array;
  readonly operandFirst: Uint32Array;
  readonly memories: number;
  owners(): Owners;
  /** First operation of each line; one more entry at the end. */
  readonly lineFirst: Uint32Array;
  /** Operations whose end a line needs: from `needFirst` of the line on. */
  readonly needs: Uint32Array;
  readonly needFirst: Uint32Array;
}
