/** @file Seconds of collectives between ranks of this machine: programs of nothing but a row of equal exchanges, each of which
 * waits for the one before.
 */
import { createMesh } from '@meshwright/core/mesh';
import type { BufferDeclaration, Collective, Program } from '@meshwright/core/program';
import type { Dim } from '@meshwright/core/tensor';
import type { Timeline } from '@meshwright/core/timeline';
import { createRankPool, type RankPool } from '../train/rank-pool.ts';
import { trainProgram } from '../train/train-program.ts';

const kinds = ['all-reduce', 'all-gather', 'reduce-scatter', 'all-to-all'] as const;

/** Of one collective; bytes of the full buffer. */
export interface ExchangeTime {
  readonly kind: (typeof kinds)[number];
  readonly ranks: number;
  readonly bytes: number;
  readonly seconds: number;
}

export interface ExchangeMeasurement {
  readonly ranks: readonly number[];
  /** Of the full buffer. */
  readonly bytes: readonly number[];
  readonly steps: number;
  readonly onProgress?: (done: number, all: number) => void;
}

/** Runs every collective with every size over every number of ranks; each counts with its fastest. */
export async function measureExchanges({
  ranks,
  bytes,
  steps,
  onProgress,
}: ExchangeMeasurement): Promise<readonly ExchangeTime[]> {
  const cases = ranks.flatMap((count) =>
    kinds.flatMap((kind) => bytes.map((size) => ({ kind, ranks: count, bytes: size }))),
  );
  const pool = createRankPool();
  const times: ExchangeTime[] = [];
  try {
    for (const [done, each] of cases.entries()) {
      onProgress?.(done, cases.length);
      times.push({ ...each, seconds: await fastest(exchangeProgram(each), steps, pool) });
    }
    onProgress?.(cases.length, cases.length);
  } finally {
    await pool.close();
  }
  return times;
}

const NANOSECONDS = 1e9;

/** From the last rank's end of one exchange to the last rank's end of the next. */
async function fastest(program: Program, steps: number, pool: RankPool): Promise<number> {
  let least = Infinity;
  const onStep = (_: unknown, timeline: () => Timeline): void => {
    const ends = new Float64Array(EXCHANGES);
    const { length, operation, end } = timeline();
    for (let index = 0; index < length; index++) {
      const at = operation[index] ?? 0;
      ends[at] = Math.max(ends[at] ?? 0, end[index] ?? 0);
    }
    for (let at = 1; at < EXCHANGES; at++) least = Math.min(least, (ends[at] ?? 0) - (ends[at - 1] ?? 0));
  };
  await trainProgram(program, { steps, pool, onStep });
  return least / NANOSECONDS;
}

/** In a row, of which the first one only sets the clock. */
const EXCHANGES = 9;
const FLOAT = 4;

function exchangeProgram({ kind, ranks, bytes }: Omit<ExchangeTime, 'seconds'>): Program {
  // Rows and columns that all ranks share out evenly.
  const side = ranks * Math.max(1, Math.round(Math.sqrt(bytes / FLOAT) / ranks));
  const columns = ranks * Math.max(1, Math.round(bytes / FLOAT / side / ranks));
  const cut = (label: string, size: number): Dim => ({ label, size, cut: ['tensor'] });
  const whole = { label: 's', size: side };
  const width = { label: 'h', size: columns };
  const buffer = (name: string, dims: readonly Dim[]): BufferDeclaration => ({
    ...{ name, role: 'scratch', dtype: 'fp32', dims, scope: 'period', resident: true },
  });
  const shard = [cut('s', side), width];
  const full = [whole, width];
  const operands = {
    'all-reduce': [full, full],
    'all-gather': [shard, full],
    'reduce-scatter': [full, shard],
    // The buffer of one rank is the full one over all ranks.
    'all-to-all': [
      [cut('s', side), { label: 'h', size: columns * ranks }],
      [whole, cut('h', columns * ranks)],
    ],
  } as const;
  const [from, to] = operands[kind];
  const sums = kind === 'all-reduce' || kind === 'reduce-scatter';
  const operation: Collective = {
    ...{ kind: 'collective', lane: 'tensor', collective: kind, axis: 'tensor', algorithm: 'ring', factor: 1 },
    ...(sums && { reduce: 'sum' as const }),
    ...(kind !== 'all-reduce' && { dim: 's' }),
    reads: ['from'],
    writes: [{ buffer: kind === 'all-reduce' ? 'from' : 'to' }],
    why: { rule: 'sum-partial' },
  };
  const items = Array.from({ length: EXCHANGES }, (_, index) => ({
    ...{ kind: 'operation' as const, id: index + 1, operation, needs: index === 0 ? [] : [index] },
  }));
  return {
    ...{ schema: 'meshwright.program/1', name: `${kind} of ${bytes} bytes`, mesh: createMesh({ tensor: ranks }) },
    ...{ groups: [], layers: 0, microBatches: 1, lossScale: 1, optimizer: 'sgd', buffers: [], templates: [] },
    lists: [
      { name: 'P0', pipeline: 0, buckets: [], units: [], buffers: [buffer('from', from), buffer('to', to)], items },
    ],
  };
}
