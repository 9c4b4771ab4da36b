import { describe, expect, it } from 'vitest';
import { createPrices } from '../cost/index.ts';
import { createMesh } from '../mesh/index.ts';
import { tensorRatio } from './break-even.ts';
import type { Explained } from './index.ts';
import { exampleJob, explainedExample } from './jobs.fixture.ts';

const examples = ['gpt2-8xa100', 'llama-2-7b-8xh100', 'llama-3.1-70b-64xh100', 'mixtral-8x7b-64xh100'] as const;

const lineOf = ({ breakEven }: Explained, start: string): Explained['breakEven'][number] => {
  const found = breakEven.find((each) => each.what.startsWith(start));
  if (!found) throw new Error(`no line ${start}`);
  return found;
};

describe('break-even lines', () => {
  it('compare tensor exchanges with compute as (t-1) F / (3 h B) where a layer has 12 h^2 parameters', () => {
    const [t, h, rate, bandwidth] = [8, 4096, 600e12, 300e9];
    const ratio = tensorRatio({ weight: 2, hidden: h, parameters: 12 * h * h }, t, rate, bandwidth);
    expect(ratio).toBeCloseTo(((t - 1) * rate) / (3 * h * bandwidth), 12);
  });

  it('say the same as seconds: two all-reduces of s b h values over the forward of a layer', () => {
    const [t, s, h, rate, bandwidth] = [4, 2048, 1024, 4e14, 2e11];
    const exchange = (2 * 2 * ((t - 1) / t) * s * h * 2) / bandwidth;
    const compute = (2 * 12 * h * h * s) / t / rate;
    const ratio = tensorRatio({ weight: 2, hidden: h, parameters: 12 * h * h }, t, rate, bandwidth);
    expect(ratio).toBeCloseTo(exchange / compute, 12);
  });

  it('have a line for each link that a tensor group may use', () => {
    const { breakEven } = explainedExample('llama-3.1-70b-64xh100');
    const links = breakEven.filter((each) => each.what.startsWith('tensor')).map((each) => each.link);
    expect(links).toEqual(['NVLink 4', 'InfiniBand 400 Gb/s']);
  }, 20_000);

  it('find the NIC at which the gather of a layer takes as long as its forward', () => {
    const job = exampleJob('llama-3.1-70b-64xh100');
    const { value, here } = lineOf(explainedExample('llama-3.1-70b-64xh100'), 'NIC rate');
    const tokens = lineOf(explainedExample('llama-3.1-70b-64xh100'), 'tokens');
    expect(here).toBe(50e9);
    const { inter } = job.cluster;
    const gather = (rate: number): number =>
      createPrices(
        { ...job.cluster, inter: { ...inter, rate: { ...inter.rate, value: rate } } },
        createMesh({ data: 64 }),
      ).exchange({ kind: 'all-gather', algorithm: 'ring', bytes: 855_654_400 * 2, axes: ['data'] });
    const hidden = (gather(50e9) * (tokens.here ?? 0)) / tokens.value;
    expect(gather(value) / hidden).toBeGreaterThan(0.9);
    expect(gather(value) / hidden).toBeLessThan(1.1);
  }, 20_000);

  it('ask for 9 (p-1) micro-batches where a tenth of the step may be bubble', () => {
    const line = lineOf(explainedExample('llama-2-7b-8xh100'), 'micro-batches');
    expect(line).toMatchObject({ symbols: '9 (p-1)', value: 63, unit: 'count' });
    expect(7 / (line.value + 7)).toBeCloseTo(0.1, 12);
    expect(line.says).toContain('m = 4 p = 32 would leave 17.9 %');
  });
});

describe('explained jobs', () => {
  it.each(examples)(
    '%s begins with its schema and survives JSON',
    (name) => {
      const explained = explainedExample(name);
      expect(Object.keys(explained)[0]).toBe('schema');
      expect(explained.schema).toBe('meshwright.explain/1');
      expect(JSON.parse(JSON.stringify(explained))).toEqual(explained);
    },
    30_000,
  );

  it.each(examples)(
    '%s: a rule that is obeyed costs nothing, one that is not is never faster',
    (name) => {
      const { rules, search } = explainedExample(name);
      expect(rules.map((each) => each.rule)).toContain('keep tensor groups on the fast links');
      for (const { agrees, says, costOverOptimum } of rules) {
        if (agrees) expect([says, costOverOptimum]).toEqual([search?.layout, 0]);
        else expect(costOverOptimum ?? 0).toBeGreaterThanOrEqual(0);
      }
    },
    30_000,
  );
});
