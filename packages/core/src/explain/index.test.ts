import { describe, expect, it } from 'vitest';
import { createPrices } from '../cost/index.ts';
import { createMesh } from '../mesh/index.ts';
import { countParameters } from '../model/index.ts';
import { tensorRatio } from './break-even.ts';
import { type Explained, explainJob } from './index.ts';
import { explainedExample, smallJob } from './jobs.fixture.ts';

const examples = ['gpt2-8xa100', 'mixtral-8x7b-64xh100'] as const;
/** Sixteen GPUs on two nodes. */
const job = smallJob({ layers: 8, hidden: 2048, heads: 16, kvHeads: 16, ffn: 5504 }, '2x dgx-h100');
const explained = explainJob(job);

const lineOf = ({ breakEven }: Explained, start: string): Explained['breakEven'][number] => {
  const found = breakEven.find((each) => each.what.startsWith(start));
  if (!found) throw new Error(`no line ${start}`);
  return found;
};

describe('break-even lines', { timeout: 60_000 }, () => {
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
    const lines = explained.breakEven.filter((each) => each.what.startsWith('tensor'));
    expect(lines.map((each) => each.link)).toEqual(['NVLink 4', 'InfiniBand 400 Gb/s']);
    expect(lines[1]?.here).toBe(16);
  });

  it('find the NIC at which the gather of a layer takes as long as its forward', () => {
    const { value, here } = lineOf(explained, 'NIC rate');
    expect(here).toBe(50e9);
    const layer = countParameters(job.model).perLayer[0] ?? 0;
    const { inter } = job.cluster;
    const gather = (rate: number): number => {
      const cluster = { ...job.cluster, inter: { ...inter, rate: { ...inter.rate, value: rate } } };
      const prices = createPrices(cluster, createMesh({ data: 16 }));
      return prices.exchange({ kind: 'all-gather', algorithm: 'ring', bytes: layer * 2, axes: ['data'] });
    };
    const used = /used for ([\d.]+) (us|ms) forward/.exec(lineOf(explained, 'tokens').says);
    const seconds = Number(used?.[1]) * (used?.[2] === 'us' ? 1e-6 : 1e-3);
    expect(gather(value) / seconds).toBeCloseTo(1, 2);
  });

  it('ask for 9 (p-1) micro-batches where a tenth of the step may be bubble', () => {
    const line = lineOf(explainedExample('gpt2-8xa100'), 'micro-batches');
    expect(line).toMatchObject({ symbols: '9 (p-1)', value: 63, unit: 'count' });
    expect(7 / (line.value + 7)).toBeCloseTo(0.1, 12);
    expect(line.says).toContain('m = 4 p = 32 would leave 17.9 %');
  });
});

describe('explained jobs', { timeout: 60_000 }, () => {
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
      const searched = rules.filter(({ rule }) => !/^(data parallelism alone|returns diminish)/.test(rule));
      for (const { agrees, says, costOverOptimum } of searched) {
        if (agrees) expect([says, costOverOptimum]).toEqual([search?.layout, 0]);
        else expect(costOverOptimum ?? 0).toBeGreaterThanOrEqual(0);
      }
    },
    30_000,
  );
});
