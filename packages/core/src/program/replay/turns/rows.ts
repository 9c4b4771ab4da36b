/** @file The arrays of turns, filled turn by turn. */
import { assertInvariant } from '../../../errors/index.ts';
import type { Item, RankList } from '../../types.ts';
import type { Turns } from './index.ts';

/** Turns while they are written down. */
export interface TurnRows {
  readonly items: Item[];
  /** Writes a row of so many operations, and returns where it begins. */
  write(item: Item, operations: number): number;
  form(row: number, operations: number): number;
  /** The needs of the turns to come until the next line. */
  needs(item: Item): void;
  turn(form: number, row: number, shift: number, operations: number): void;
  ended(id: number): void;
  finish(): Omit<Turns, 'list' | 'rows' | 'cellOf' | 'stepOf' | 'cells'>;
}

const NOTHING: readonly number[] = [];

export function createTurnRows(list: RankList): TurnRows {
  const items: Item[] = [];
  const rowOf: number[] = [];
  const shiftOf: number[] = [];
  const formOf: number[] = [];
  const first = [0];
  const formRow = [0];
  const formLength = [1];
  const needs: number[] = [];
  const needFirst = [0];
  const lastOf: number[] = [];
  let named: readonly number[] = [];
  let written = 0;
  let operations = 0;
  return {
    items,
    write: (item, count) => {
      items.push(item.needs.length === 0 ? item : { ...item, needs: [] });
      written += count;
      return written - count;
    },
    form: (row, count) => {
      formLength.push(count);
      return formRow.push(row) - 1;
    },
    needs: (item) => {
      named = item.needs.length === 0 ? NOTHING : item.needs.map((id) => endOf(lastOf, id, item, list));
    },
    turn: (form, row, shift, count) => {
      formOf.push(form);
      rowOf.push(row);
      shiftOf.push(shift);
      operations += count;
      first.push(operations);
      for (const end of named) needs.push(end);
      needFirst.push(needs.length);
    },
    ended: (id) => {
      lastOf[id] = formOf.length - 1;
    },
    finish: () => ({
      length: formOf.length,
      rowOf: new Uint32Array(rowOf),
      shiftOf: new Int32Array(shiftOf),
      formOf: new Uint32Array(formOf),
      first: new Uint32Array(first),
      formRow: new Uint32Array(formRow),
      formLength: new Uint32Array(formLength),
      needs: new Uint32Array(needs),
      needFirst: new Uint32Array(needFirst),
    }),
  };
}

function endOf(lastOf: readonly number[], id: number, item: Item, list: RankList): number {
  const end = lastOf[id];
  assertInvariant(end !== undefined, () => `line ${item.id} of ${list.name} needs line ${id}, which is not earlier`);
  return end;
}
