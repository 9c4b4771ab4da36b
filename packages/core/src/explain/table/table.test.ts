import { describe, expect, it } from 'vitest';
import { compileProgram, stateByLaw } from '../../compile/index.ts';
import { parseLayoutString } from '../../io/index.ts';
import { completeLayout, type Layout } from '../../layout/index.ts';
import { countParameters } from '../../model/index.ts';
import { splitCosts } from '../../plan/index.ts';
import { bytesSent } from '../../program/index.ts';
import { explainJob } from '../index.ts';
import { smallJob } from '../jobs.fixture.ts';
import type { StrategyName, StrategyRow } from '../types.ts';
import { strategies } from './symbols.ts';

const job = smallJob();
const { table } = explainJob(job);
const rowOf = (name: StrategyName): StrategyRow => table.find((row) => row.strategy === name) as StrategyRow;

/** The layout of a row, read back from its short form. */
function layoutOf(row: StrategyRow): Layout {
  const { layout } = parseLayoutString(row.numbers?.layout ?? '');
  return completeLayout(layout, job, splitCosts(job)).layout;
}

describe('the table', { timeout: 60_000 }, () => {
  it('has the rows of the field in the order of the flow', () => {
    expect(table.map((row) => row.strategy)).toEqual(['DP', 'ZeRO-1', 'ZeRO-2', 'ZeRO-3', 'TP', 'TP+SP', 'PP']);
    expect(table.flatMap((row) => row.issues)).toEqual([]);
  });

  it.each(strategies.map((each) => each.strategy))('%s holds the state that the law says', (name) => {
    const layout = layoutOf(rowOf(name));
    const stages = Array.from({ length: layout.pipeline }, (_, stage) => {
      const { weights, gradients, optimizer } = stateByLaw(job, layout, stage);
      return weights + gradients + optimizer;
    });
    expect(rowOf(name).statePerGpu.bytes).toBe(Math.max(...stages));
  });

  it.each(strategies)('$strategy sends what the ledger of its program counts', ({ strategy, axis, rules }) => {
    const sent = bytesSent(compileProgram(job, layoutOf(rowOf(strategy)))).lists.map(({ exchanges }) =>
      exchanges
        .filter((each) => each.axis === axis && rules.includes(each.rule))
        .reduce((sum, each) => sum + each.bytes, 0),
    );
    expect(rowOf(strategy).bytesPerGpuPerStep.bytes).toBe(Math.max(...sent));
    expect(Math.max(...sent)).toBeGreaterThan(0);
  });

  it('follows its symbols', () => {
    const { total } = countParameters(job.model);
    expect(rowOf('DP').statePerGpu).toEqual({ symbols: '16 Psi', bytes: 16 * total });
    expect(rowOf('DP').bytesPerGpuPerStep).toEqual({ symbols: '2 (N-1)/N Psi g', bytes: ((2 * 7) / 8) * total * 2 });
    expect(rowOf('ZeRO-1').statePerGpu).toEqual({ symbols: '(4 + 12/N) Psi', bytes: (4 + 12 / 8) * total });
    expect(rowOf('ZeRO-1').bytesPerGpuPerStep).toEqual({
      symbols: '(N-1)/N Psi (g + w)',
      bytes: rowOf('DP').bytesPerGpuPerStep.bytes,
    });
    expect(rowOf('ZeRO-3').statePerGpu).toEqual({ symbols: '16 Psi / N', bytes: 2 * total });
    const { microBatches: m = 0, microBatch: b = 0 } = rowOf('PP').numbers ?? {};
    expect(rowOf('PP').bytesPerGpuPerStep).toEqual({ symbols: '2 m s b h w', bytes: 2 * m * 512 * b * 512 * 2 });
    expect(rowOf('TP').batch.symbols).toBe('N m b, not t');
    expect(rowOf('TP').link).toMatchObject({ name: 'NVLink 4', crossesNode: false });
  });

  it('counts each unit of tensor traffic', () => {
    const row = rowOf('TP');
    const { microBatches: m = 0, microBatch: b = 0 } = row.numbers ?? {};
    const { tensor: t, recompute } = layoutOf(row);
    const unit = (m * (t - 1) * 512 * b * 512 * 2) / t;
    const loss = (3 * 2 * (t - 1) * m * 512 * b * 4) / t;
    expect(row.bytesPerGpuPerStep.symbols).toBe('8 L m (t-1)/t s b h w; ends');
    expect(recompute).toBe('none');
    expect(row.bytesPerGpuPerStep.bytes).toBe(8 * 8 * unit + 4 * unit + loss);
  });

  it('says by its code why a strategy is not legal', () => {
    const odd = explainJob(smallJob({ hidden: 448, heads: 7, kvHeads: 7, ffn: 1344 }));
    const row = odd.table.find((each) => each.strategy === 'TP');
    expect(row?.issues.map((each) => each.code)).toContain('HEADS_NOT_DIVISIBLE');
    expect(row?.numbers).toBeUndefined();
    expect(row?.statePerGpu).toEqual({ symbols: '16 Psi / t; norms whole' });
    expect(odd.table.find((each) => each.strategy === 'DP')?.numbers).toBeDefined();
  });

  it('shows stages across nodes, on the network', () => {
    const row = explainJob(smallJob({}, '2x dgx-h100')).table.find((each) => each.strategy === 'PP');
    expect(row?.link).toMatchObject({ name: 'InfiniBand 400 Gb/s', crossesNode: true });
    expect(row?.numbers?.layout).toContain('tp=1,pp=2,dp=8');
  });
});
