/** @file Blockwise attention over any products (Dao et al. 2022): walks blocks of queries and keys, so that the scores of one
 * block live at a time. Who sees whom is a range of keys for each query; blocks that nobody sees are passed by.
 */
import type { Places } from './places.ts';

/** Where rows lie: the first one's byte, and elements from one to the next. */
export interface Lines {
  readonly at: number;
  readonly row: number;
}

/** One product that scores are made of: a head's queries with its keys, and in backward where their gradients are added. */
export interface Product {
  readonly size: number;
  readonly q: Lines;
  readonly k: Lines;
  readonly dq?: Lines;
  readonly dk?: Lines;
}

/** How products become scores. */
export interface Scoring {
  readonly scale: number;
  /** Scores are capped; 0: they are not. */
  readonly cap: number;
  /** What a score loses for each token of distance. */
  readonly fall: number;
}

/** First key that each query sees and the one behind its last, in turn; in the memory at `at`. */
export interface Sight {
  readonly at: number;
  readonly ranges: Int32Array;
}

/** One head of one sample. */
export interface Head {
  readonly queries: number;
  readonly keys: number;
  readonly products: readonly Product[];
  readonly v: Lines;
  readonly valueSize: number;
  readonly o: Lines;
  readonly lse: Lines;
  readonly scoring: Scoring;
  readonly sight: Sight;
}

/** What is known before the first key: nothing, a sink with its score, or what earlier keys have left. */
export interface Before {
  readonly sink?: number;
  readonly o?: Lines;
  readonly lse?: Lines;
}

const LOWEST = -1e30;

const lineAt = ({ at, row }: Lines, index: number): number => at + 4 * index * row;

/** Scratch of a block: scores, slopes, then statistics. */
function scratchOf({ pack, packBytes, block }: Places) {
  const scores = pack + packBytes;
  const slopes = scores + 4 * block * block;
  const tops = slopes + 4 * block * block;
  return { scores, slopes, tops, sums: tops + 4 * block, means: tops + 8 * block };
}

/** Whether any of the queries sees any of the keys. */
function meets({ ranges }: Sight, query: number, rows: number, key: number, columns: number): boolean {
  for (let i = query; i < query + rows; i++) {
    if (ranges[2 * i]! < key + columns && ranges[2 * i + 1]! > key) return true;
  }
  return false;
}

/** Calls `each` with every block of keys that some of the queries see. */
function eachBlock(
  { keys, sight }: Head,
  block: number,
  i: number,
  rows: number,
  each: (j: number, columns: number) => void,
): void {
  for (let j = 0; j < keys; j += block) {
    const columns = Math.min(block, keys - j);
    if (meets(sight, i, rows, j, columns)) each(j, columns);
  }
}

/** Products of a block of queries and keys. */
function multiply(places: Places, { products }: Head, i: number, rows: number, j: number, columns: number): void {
  const { kernels, pack, block } = places;
  const { scores } = scratchOf(places);
  for (const [index, { size, q, k }] of products.entries()) {
    const from = [lineAt(q, i), q.row, 1, lineAt(k, j), 1, k.row] as const;
    kernels.gemm(rows, columns, size, ...from, scores, block, index === 0 ? 0 : 1, 0, pack);
  }
}

export function forwardHead(places: Places, head: Head, before: Before): void {
  const { kernels, pack, block } = places;
  const { scores, tops, sums } = scratchOf(places);
  const { queries, v, valueSize, o, lse, sight } = head;
  const { scale, cap, fall } = head.scoring;
  const [top, sum] = before.sink === undefined ? [LOWEST, 0] : [before.sink, 1];
  for (let i = 0; i < queries; i += block) {
    const rows = Math.min(block, queries - i);
    const [out, stats] = [lineAt(o, i), lineAt(lse, i)];
    const [oldO, oldLse] = [before.o ? lineAt(before.o, i) : 0, before.lse ? lineAt(before.lse, i) : 0];
    kernels.beginRows(rows, valueSize, out, o.row, tops, sums, top, sum, oldO, oldLse, lse.row);
    eachBlock(head, block, i, rows, (j, columns) => {
      multiply(places, head, i, rows, j, columns);
      const seen = [sight.at + 8 * i, j, scale, cap, fall, i - j] as const;
      kernels.softenRows(rows, columns, block, scores, ...seen, tops, sums, out, o.row, valueSize);
      kernels.gemm(rows, valueSize, columns, scores, block, 1, lineAt(v, j), v.row, 1, out, o.row, 1, 0, pack);
    });
    kernels.finishRows(rows, valueSize, out, o.row, stats, lse.row, tops, sums);
  }
}

/** Adds the gradients of a head into those of its queries, keys and values. `eachMean` is told the mean slope of the queries
 * from `first` on, which lies at `at`. */
export function backwardHead(
  places: Places,
  head: Head,
  dO: Lines,
  dv: Lines,
  eachMean?: (first: number, rows: number, at: number) => void,
): void {
  const { kernels, pack, block } = places;
  const { scores, slopes, means } = scratchOf(places);
  const { queries, products, v, valueSize, o, lse, sight } = head;
  const { scale, cap, fall } = head.scoring;
  for (let i = 0; i < queries; i += block) {
    const rows = Math.min(block, queries - i);
    kernels.rowMeans(rows, valueSize, lineAt(dO, i), lineAt(o, i), o.row, means);
    eachMean?.(i, rows, means);
    eachBlock(head, block, i, rows, (j, columns) => {
      multiply(places, head, i, rows, j, columns);
      const ofValues = [lineAt(dO, i), dO.row, 1, lineAt(v, j), 1, v.row] as const;
      kernels.gemm(rows, columns, valueSize, ...ofValues, slopes, block, 0, 0, pack);
      const seen = [sight.at + 8 * i, j, scale, cap, fall, i - j] as const;
      kernels.slopeRows(rows, columns, block, scores, slopes, ...seen, lineAt(lse, i), lse.row, means);
      const toValues = [scores, 1, block, lineAt(dO, i), dO.row, 1, lineAt(dv, j), dv.row] as const;
      kernels.gemm(columns, valueSize, rows, ...toValues, 1, 0, pack);
      for (const { size, q, k, dq, dk } of products) {
        if (dq) {
          const to = [lineAt(k, j), k.row, 1, lineAt(dq, i), dq.row, 1, 0, pack] as const;
          kernels.gemm(rows, size, columns, slopes, block, 1, ...to);
        }
        if (dk) {
          const to = [lineAt(q, i), q.row, 1, lineAt(dk, j), dk.row, 1, 0, pack] as const;
          kernels.gemm(columns, size, rows, slopes, 1, block, ...to);
        }
      }
    });
  }
}
