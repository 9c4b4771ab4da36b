/** @file The arrays of a replay, filled call by call and line by line. */
import { assertInvariant } from '../../errors/index.ts';
import type { Call, RankList } from '../types.ts';
import type { BlockForm, LineForm } from './book.ts';
import type { Memories } from './memories.ts';
import type { Replay } from './types.ts';

/** The arrays of a replay while they are filled. */
export interface Rows {
  at(): number;
  block(form: BlockForm, call: Call, memories: Memories): void;
  line(form: LineForm): void;
  readonly lineFirst: Uint32Array;
  needs: number[];
  readonly needFirst: Uint32Array;
  finish(): Omit<Replay, 'samples' | 'blockOf' | 'memories' | 'owners'>;
}

export function createRows(list: RankList, length: number): Rows {
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
export function createEnds(list: RankList, rows: Rows) {
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
