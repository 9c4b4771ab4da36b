import { describe, expect, it } from 'vitest';
import { readRuns, runColumns, scoreRuns, skipReasons } from './index.ts';

const base: Readonly<Record<string, string | number>> = {
  id: 'k-1',
  source: 'a paper',
  year: 2022,
  gpu: 'A100-80GB-SXM',
  gpus_per_node: 8,
  n_gpus: 64,
  interconnect_inter_gbps_per_gpu: 200,
  layers: 48,
  hidden: 6144,
  ffn_hidden: 24576,
  ffn_act: 'gelu',
  heads: 64,
  vocab: 51200,
  seq: 2048,
  global_batch: 64,
  micro_batch: 1,
  dp: 1,
  tp: 8,
  pp: 8,
  vpp: 3,
  cp: 1,
  sp: 'y',
  recompute: 'selective',
  precision: 'FP16',
  framework: 'Megatron-LM',
  workload: 'pretrain',
  step_time_s: 5,
};

const textOf = (...rows: readonly Readonly<Record<string, string | number>>[]): string =>
  [runColumns.join(), ...rows.map((row) => runColumns.map((column) => row[column] ?? '').join())].join('\n');

const scoreOf = (...changes: readonly Readonly<Record<string, string | number>>[]) =>
  scoreRuns(readRuns({ name: 'runs.csv', text: textOf(...changes.map((change) => ({ ...base, ...change }))) }).rows);

const only = (change: Readonly<Record<string, string | number>>) => {
  const [row] = scoreOf(change).rows;
  if (row === undefined) throw new Error('no row');
  return row;
};

describe('both tiers', () => {
  it('are scored on the rows that are simulated: shared links never take less than block level', () => {
    const { rows } = readRuns({ name: 'runs.csv', text: textOf({ ...base, vpp: 1, pp: 2, dp: 4, step_time_s: 20 }) });
    const { rows: scored, overall } = scoreRuns(rows, { settles: true });
    const [{ predictedSeconds = 0, simulatedSeconds = 0, simulatedError = 0 } = {}] = scored;
    expect(simulatedSeconds).toBeGreaterThanOrEqual(predictedSeconds);
    expect(simulatedSeconds).toBeLessThan(1.2 * predictedSeconds);
    expect(simulatedError).toBeCloseTo(simulatedSeconds / 20 - 1, 12);
    expect(overall.tiers).toMatchObject({ shared: { rows: 1, bias: simulatedError }, block: { rows: 1 } });
    expect(scoreRuns(rows).overall.tiers).toBeNull();
  });
});

describe('a run that ran out of memory', () => {
  it('has a verdict and no error, and needs no batch where stages are one', () => {
    const row = only({
      tp: 1,
      pp: 1,
      vpp: 1,
      dp: 64,
      global_batch: '',
      step_time_s: '',
      outcome: 'oom',
      zero_fsdp: 'ZeRO-1',
    });
    expect(row).toMatchObject({ ranOut: true, verdict: 'does-not-fit' });
    expect(row.error).toBeUndefined();
    expect(row.assumed).toContain('global batch: one micro-batch on each data rank');
  });
});

describe('a run that does not fit as it is stated', () => {
  const large = { micro_batch: 8, global_batch: 512, zero_fsdp: 'ZeRO-1', dp: 2, pp: 4, vpp: 1 };
  it('is said not to fit where it states its recomputation', () => {
    const row = only({ ...large, recompute: 'none' });
    expect(row.verdict).toBe('does-not-fit');
  });
  it('gives up the least that fits where it does not, and says so', () => {
    const row = only({ ...large, recompute: '' });
    expect(row.verdict).not.toBe('does-not-fit');
    expect(row.assumed.filter((each) => each.startsWith('recomputation'))).toEqual([
      expect.stringMatching(/not stated; the least that fits, \d+ % of the layers/),
    ]);
  });
});

describe('a run', () => {
  it('that says everything is priced with few assumptions, each by name', () => {
    const row = only({});
    expect(row.skipped).toBeUndefined();
    expect(row.low).toBeLessThan(row.predictedSeconds ?? 0);
    expect(row.high).toBeGreaterThan(row.predictedSeconds ?? 0);
    expect(row.assumed).toEqual([
      'key and value heads: as many as query heads',
      'output matrix: tied',
      'attention: unfused',
      'dropout: 0.1',
      'sharding: none',
    ]);
  });
  it('that gives throughput in place of time is measured all the same', () => {
    const row = only({ step_time_s: '', tokens_per_s_per_gpu: 409.6 });
    expect(row.measuredSeconds).toBeCloseTo((64 * 2048) / (409.6 * 64), 9);
  });
  it('of a slower network is predicted slower, of full recomputation as well', () => {
    const spread = { n_gpus: 512, dp: 8, global_batch: 512 };
    const fast = only(spread).predictedSeconds ?? 0;
    expect(only({ ...spread, interconnect_inter_gbps_per_gpu: 25 }).predictedSeconds).toBeGreaterThan(fast);
    expect(only({ ...spread, recompute: 'full' }).predictedSeconds).toBeGreaterThan(fast);
  });
  it('in fp8 is predicted faster than in bf16', () => {
    const modern = { gpu: 'H100-80GB-SXM', framework: 'NeMo', year: 2025 };
    const half = only({ ...modern, precision: 'BF16' }).predictedSeconds ?? 0;
    expect(only({ ...modern, precision: 'FP8' }).predictedSeconds).toBeLessThan(half);
  });
  it('with context ranks takes longer than with as many data ranks: attention of whole sequences, and keys that cross nodes', () => {
    const long = { gpu: 'H100-80GB-SXM', framework: 'NeMo', year: 2025, seq: 8192, n_gpus: 128, recompute: 'none' };
    const data = only({ ...long, dp: 2, seq: 4096, global_batch: 128 }).predictedSeconds ?? 0;
    const context = only({ ...long, cp: 2, dp: 1 });
    expect(context.assumed.some((each) => each.startsWith('context: keys and values'))).toBe(true);
    expect(context.predictedSeconds).toBeGreaterThan(data);
  });
  it('that tunes all weights on answers is priced as one that trains them', () => {
    expect(only({ workload: 'sft' }).predictedSeconds).toBe(only({}).predictedSeconds);
    expect(only({ workload: 'sft' }).assumed).toContain('answers: sequences of full length');
  });
  it('over a pipeline of Automodel is priced as torchtitan, without one as FSDP', () => {
    const automodel = {
      gpu: 'H100-80GB-SXM',
      framework: 'NeMo Automodel (PyTorch)',
      year: 2026,
      sp: '',
      zero_fsdp: 'FSDP2',
    };
    expect(only({ ...automodel, recompute: 'none' }).assumed.join()).toContain('as torchtitan');
    expect(only({ ...automodel, pp: 1, vpp: 1, dp: 8, recompute: 'none' }).assumed).toContain(
      'framework: Automodel as FSDP on PyTorch',
    );
  });
  it('whose framework nobody knows is priced with the default profile, and says so', () => {
    expect(only({ framework: 'homemade' }).assumed).toContain('framework: homemade, priced as the default profile');
  });
});

describe('a run that cannot be priced is skipped with a reason of the closed list', () => {
  it.each([
    ['no-time', { step_time_s: '' }],
    ['unreadable', { heads: 'many' }],
    ['gpu-unknown', { gpu: 'TPU v5e' }],
    ['gpus-not-whole-nodes', { n_gpus: 60 }],
    ['dimensions-missing', { layers: '' }],
    ['dimensions-illegal', { heads: 7 }],
    ['batch-missing', { micro_batch: '' }],
    ['layout-missing', { dp: '' }],
    ['chunks-unknown', { vpp: '' }],
    ['recompute-unknown', { recompute: 'sometimes' }],
    ['sharding-not-priced', { zero_fsdp: 'FSDP (shard 6)', dp: 8, tp: 1 }],
    ['context-not-priced', { cp: 3, n_gpus: 192, dp: 1 }],
    ['attention-not-priced', { attn: 'MLA' }],
    ['precision-not-priced', { precision: 'NVFP4' }],
    ['workload-not-priced', { workload: 'lora' }],
    ['attention-not-priced', { attn: 'MLA MoE', experts: 64, top_k: 6, expert_ffn: 1408, ep: 1 }],
    ['dimensions-missing', { experts: 8, top_k: 2, ep: 1 }],
    ['dimensions-missing', { experts: 8, top_k: 2, expert_ffn: 24576, ep: 1 }],
    ['dimensions-missing', { preset: 'a model of nobody', experts: 8, ep: 1 }],
    ['dimensions-illegal', { preset: 'mixtral-8x7b', experts: 8, ep: 1 }],
    ['dimensions-illegal', { experts: 8, top_k: 9, expert_ffn: 24576, ffn_act: 'swiglu', ep: 1 }],
    ['layout-missing', { experts: 8, top_k: 2, expert_ffn: 24576, ffn_act: 'swiglu' }],
    ['layout-illegal', { experts: 8, top_k: 2, expert_ffn: 24576, ffn_act: 'swiglu', ep: 16 }],
    ['layout-illegal', { dp: 4 }],
  ] as const)('%s', (reason, change) => {
    const row = only(change);
    expect(row.skipped).toBe(reason);
    expect(Object.keys(skipReasons)).toContain(row.skipped);
    expect(row.predictedSeconds).toBeUndefined();
  });
});

describe('a score', () => {
  it('sums up by source, and asks the null model of other sources only', () => {
    const score = scoreOf({}, { id: 'k-2', tp: 4, dp: 2 }, { id: 'k-3', source: 'another', step_time_s: 6 });
    expect(score.bySource.map(({ source, rows }) => [source, rows])).toEqual([
      ['a paper', 2],
      ['another', 1],
    ]);
    expect(score.overall).toMatchObject({ rows: 3, skipped: 0, jobs: 0, spearman: null });
    const [first, , third] = score.rows;
    expect((first?.nullSeconds ?? 0) / (third?.measuredSeconds ?? 1)).toBeCloseTo(1, 9);
  });
  it('ranks the layouts of one job', () => {
    const layouts = [
      { tp: 8, dp: 1 },
      { tp: 4, dp: 2 },
      { tp: 2, dp: 4 },
    ];
    const times = layouts.map((layout) => only(layout).predictedSeconds ?? 0);
    const score = scoreOf(...layouts.map((layout, index) => ({ ...layout, step_time_s: times[index] ?? 1 })));
    expect(score.overall).toMatchObject({ jobs: 1, spearman: 1, regret: 0 });
    expect(score.overall.mape).toBeLessThan(1e-9);
    expect(score.overall.coverage).toBe(1);
  });
  it('takes memory from a second table, for rows of the first and rows of its own', () => {
    const memory = textOf(
      { ...base, peak_mem_GB: 40, mem_kind: 'device' },
      { ...base, id: 'm-1', step_time_s: '', peak_mem_GB: 40, mem_kind: 'allocated' },
    );
    const { rows } = readRuns({ name: 'runs.csv', text: textOf(base) }, { name: 'memory.csv', text: memory });
    const score = scoreRuns(rows);
    expect(score.overall).toMatchObject({ rows: 1, memory: { rows: 2 } });
    const [device, allocated] = score.rows.map((row) => row.predictedPeakBytes ?? 0);
    expect(device).toBeGreaterThan(allocated ?? 0);
  });
});
