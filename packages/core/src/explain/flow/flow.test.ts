import { describe, expect, it } from 'vitest';
import { factsOf, stateLaw } from '../facts.ts';
import { type Explained, explainJob } from '../index.ts';
import { exampleJob, explainedExample, smallJob, stepNamed } from '../jobs.fixture.ts';

const decisions = ({ flow }: Explained): readonly string[] => flow.map((each) => `${each.step} ${each.decision}`);
const valueOf = (explained: Explained, step: string, what: string): number | undefined =>
  stepNamed(explained, step).numbers.find((each) => each.what === what)?.value;

describe('the flow', { timeout: 120_000 }, () => {
  it('ends at DDP for GPT-2 on one node', () => {
    const explained = explainedExample('gpt2-8xa100');
    expect(decisions(explained)).toEqual(['one-gpu yes', 'batch yes', 'search yes', 'failures yes']);
    expect(explained.recommendation).toMatchObject({ name: 'DDP', verdict: 'fits' });
    expect(explained.recommendation?.layout).toContain('tp=1,pp=1,dp=8');
    expect(stepNamed(explained, 'one-gpu').answer).toContain('16 Psi = 16 x 124 M = 1.99 GB');
    expect(stepNamed(explained, 'search').answer).toContain("The flow's DDP");
  });

  it('refuses DDP for 7 B on eight 80 GB GPUs and prices shared state', () => {
    const explained = explainedExample('llama-2-7b-8xh100');
    expect(decisions(explained)).toEqual([
      'one-gpu no',
      'sharded-optimizer yes',
      'batch yes',
      'search yes',
      'failures yes',
    ]);
    const { answer } = stepNamed(explained, 'one-gpu');
    expect(answer).toContain('16 Psi = 16 x 6.74 B = 107.8 GB');
    expect(answer).toContain('with fp32 gradients 18 Psi = 121.3 GB');
    expect(stepNamed(explained, 'sharded-optimizer').answer).toContain('(4 + 12/8) x 6.74 B = 37.1 GB');
    expect(explained.recommendation?.name).toMatch(/^ZeRO-[12]$/);
    const rows = explained.table.slice(0, 4);
    expect(rows.map((row) => row.numbers?.verdict)).toEqual(['does-not-fit', 'fits', 'fits', 'fits']);
    expect(rows.every((row) => (row.numbers?.seconds ?? 0) > 0)).toBe(true);
  });

  it('finds that 70 B fit on 64 GPUs under FSDP, with 17.6 GB of state', () => {
    const explained = explainedExample('llama-3.1-70b-64xh100');
    const { answer, decision } = stepNamed(explained, 'sharded-state');
    expect(answer).toContain('16 Psi / N = 16 x 70.6 B / 64 = 17.6 GB');
    expect(decision).not.toBe('no');
    expect(explained.table.find((row) => row.strategy === 'ZeRO-3')?.numbers?.verdict).toBe('fits');
    expect(stepNamed(explained, 'one-gpu').decision).toBe('no');
    expect(stepNamed(explained, 'sharded-optimizer').decision).toBe('no');
  });

  it('ends at all three axes for the trillion-parameter row of 2021, and prices the layout that the job gives', () => {
    const explained = explainedExample('narayanan-1t');
    expect(explained.recommendation?.name).toMatch(/^3D 8 x \d+ x \d+$/);
    const [p, m] = [
      valueOf(explained, 'pipeline', 'stages'),
      valueOf(explained, 'pipeline', 'micro-batches of a step'),
    ];
    expect(m).toBeGreaterThanOrEqual(4 * (p ?? Number.POSITIVE_INFINITY));
    expect(stepNamed(explained, 'three-axes').decision).toBe('yes');
    expect(explained.given?.layout).toContain('tp=8,pp=64,dp=6,mbs=1,zero=0,ac=full');
    expect(explained.job['kept']).toBe('microBatch=1,recompute=full,gradientType=fp32');
  });

  it('never beats the search, and is what the search evaluates', () => {
    for (const name of ['gpt2-8xa100', 'llama-2-7b-8xh100', 'llama-3.1-70b-64xh100', 'narayanan-1t']) {
      const { costOverSearch, recommendation, search } = explainedExample(name);
      expect(costOverSearch).toBeGreaterThanOrEqual(0);
      expect(costOverSearch).toBe((recommendation?.seconds ?? 0) / (search?.seconds ?? 1) - 1);
    }
  });

  it('goes on to sharding when DDP fits only with recomputation', () => {
    const long = { layers: 24, hidden: 2048, heads: 16, kvHeads: 16, ffn: 8192, vocab: 32_000, positions: 32_768 };
    const job = smallJob(long, '1x dgx-h100', { batch: { sequences: 8, length: 32_768 } });
    const explained = explainJob(job);
    expect(stepNamed(explained, 'one-gpu')).toMatchObject({ decision: 'barely' });
    expect(stepNamed(explained, 'one-gpu').answer).toContain('fits only with recomputation');
    expect(explained.flow.some((each) => each.step === 'sharded-optimizer')).toBe(true);
  });

  it('says why it stops where nothing fits', () => {
    const huge = { layers: 8, hidden: 65_536, heads: 64, kvHeads: 64, ffn: 262_144, vocab: 32_000 };
    const explained = explainJob(smallJob(huge));
    expect(explained.recommendation).toBeUndefined();
    expect(explained.search).toBeUndefined();
    expect(explained.flow.filter((each) => each.decision === 'yes').map((each) => each.step)).toEqual(['batch']);
    expect(explained.issues.map((each) => each.code)).toContain('NOTHING_FITS');
    expect(stepNamed(explained, 'tensor').answer).toMatch(/^no: .* needs .* at least, .* of it (weights|gradients)/);
    expect(stepNamed(explained, 'pipeline').answer).toBe('no: no GPUs remain for stages beside tensor 8.');
  });

  it('has one question for one GPU', () => {
    const explained = explainJob(smallJob({}, { preset: 'dgx-h100', nodes: 1, gpusPerNode: 1 }));
    expect(decisions(explained)).toEqual(['one-gpu yes', 'batch yes', 'search yes', 'failures yes']);
    expect(explained.recommendation?.name).toBe('one GPU');
  });
});

describe('the state law', () => {
  const facts = { ...factsOf(exampleJob('llama-2-7b-8xh100')), parameters: 7e9, trained: 7e9 };

  it('has frozen weights beside what is trained, which sharding 3 alone cuts', () => {
    const tuned = { ...facts, trained: 1e8, frozen: 7e9 };
    expect(stateLaw(tuned, 0, 1)).toMatchObject({ symbols: '16 Psi + 2 F', bytes: 16e8 + 14e9 });
    expect(stateLaw(tuned, 2, 8)).toMatchObject({ symbols: '(2 + 14/N) Psi + 2 F', bytes: 1e8 * (2 + 14 / 8) + 14e9 });
    expect(stateLaw(tuned, 3, 8)).toMatchObject({ symbols: '16 Psi / N + 2 F / N', bytes: (16e8 + 14e9) / 8 });
  });

  it('gives the numbers of the field for 7 B', () => {
    expect(stateLaw(facts, 0, 1)).toEqual({ symbols: '16 Psi', perParameter: 16, bytes: 112e9 });
    expect(stateLaw({ ...facts, gradient: 4, plain: { ...facts.plain, gradientType: 'fp32' } }, 0, 1)).toEqual({
      symbols: '18 Psi',
      perParameter: 18,
      bytes: 126e9,
    });
  });

  it.each([
    [1, '(4 + 12/N) Psi', 4 + 12 / 8],
    [2, '(2 + 14/N) Psi', 2 + 14 / 8],
    [3, '16 Psi / N', 16 / 8],
  ] as const)('shares more with ZeRO-%s', (sharding, symbols, perParameter) => {
    expect(stateLaw(facts, sharding, 8)).toEqual({ symbols, perParameter, bytes: perParameter * 7e9 });
  });
});
