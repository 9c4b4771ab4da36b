/** @file Counts of routed rows as a rank learns them: what buffers of rows take, and what the step would have taken. */
import { assertInvariant } from '@meshwright/core/errors';
import {
  boundBytes,
  type ExpandedOperation,
  type Instance,
  type Lifetimes,
  type RowTable,
  routedDim,
  rowKey,
  withBytes,
} from '@meshwright/core/program';
import type { Seat } from '../place/seat.ts';
import { valuesOf, type Window } from './cells.ts';

/** Tables by layer and micro-batch. */
export type RowTables = Readonly<Record<string, RowTable>>;

/** The counts in a table's window: [ranks, experts]. */
export function tableIn(window: Window): RowTable {
  const experts = window.dims.at(-1)?.size ?? 0;
  assertInvariant(experts > 0, () => `${window.cell.name} is no table of counts`);
  return { experts, counts: valuesOf(window) as Int32Array };
}

/** What a rank knows of rows in one period. */
export interface KnownRows {
  /** Keeps what the host has read. */
  readonly note: (operation: ExpandedOperation, window: Window | undefined) => void;
  /** Bytes of a buffer of rows whose number the host has read; undefined for all others. */
  readonly bytesOf: (instance: Instance) => number | undefined;
  /** The lifetimes of the list with the bytes of the rows that were counted. */
  readonly bind: (lifetimes: Lifetimes) => Lifetimes;
  /** Hands the tables over and begins anew. */
  readonly take: () => RowTables;
}

export function createRows(seat: Seat): KnownRows {
  let tables: Record<string, RowTable> = {};
  const bytesOf = (instance: Instance): number | undefined => {
    if (routedDim(instance.declaration.dims) === undefined) return undefined;
    const table = tables[rowKey(instance.name)];
    return table && boundBytes(instance, table, seat.coordinate, seat.degrees);
  };
  return {
    bytesOf,
    note: ({ reads }, window) => {
      const [read] = reads;
      if (read === undefined || window === undefined) return;
      const { experts, counts } = tableIn(window);
      tables[rowKey(read.instance.name)] = { experts, counts: Int32Array.from(counts) };
    },
    bind: (lifetimes) => (Object.keys(tables).length === 0 ? lifetimes : withBytes(lifetimes, bytesOf)),
    take: () => {
      const taken = tables;
      tables = {};
      return taken;
    },
  };
}
