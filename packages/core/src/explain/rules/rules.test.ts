import { describe, expect, it } from 'vitest';
import type { LayoutRequest } from '../../layout/index.ts';
import type { FlowContext } from '../flow/index.ts';
import { type Explained, explainJob } from '../index.ts';
import { smallJob } from '../jobs.fixture.ts';
import { sizeRule } from './by-size.ts';

const dimensions = { layers: 8, hidden: 2048, heads: 16, kvHeads: 16, ffn: 5504 };
const ruleOf = ({ rules }: Explained, start: string): Explained['rules'][number] => {
  const found = rules.find(({ rule }) => rule.startsWith(start));
  if (!found) throw new Error(`no rule ${start}`);
  return found;
};

describe('rules by size', () => {
  const dense = smallJob(dimensions, '1x dgx-h100');
  const kindsOf = (parameters: number): readonly LayoutRequest[] => {
    const context = { facts: { job: dense, parameters, gpus: 64 } } as unknown as FlowContext;
    return sizeRule(context).kinds(undefined as never);
  };

  it('take replicas under 13 B, sharded state to 70 B, tensor 8 with few stages to 300 B', () => {
    expect(kindsOf(12.9e9)).toEqual([{ tensor: 1, pipeline: 1 }]);
    expect(kindsOf(13e9)).toEqual([
      { tensor: 1, pipeline: 1, sharding: 3 },
      { tensor: 1, pipeline: 1, sharding: 3, offload: 'optimizer' },
    ]);
    expect(kindsOf(70e9)).toEqual([
      { tensor: 8, pipeline: 2 },
      { tensor: 8, pipeline: 4 },
    ]);
    expect(kindsOf(301e9)).toEqual([2, 4, 8].map((pipeline) => ({ tensor: 8, pipeline })));
  });

  it('give experts ranks of their own', () => {
    const experts = smallJob({ kind: 'mixtral', experts: 8, topK: 2 });
    const context = { facts: { job: experts, parameters: 1e9, gpus: 64 } } as unknown as FlowContext;
    expect(sizeRule(context).kinds(undefined as never)).toEqual([2, 4, 8].map((expert) => ({ expert })));
  });
});

describe('rules held against the search', { timeout: 120_000 }, () => {
  const pcie = explainJob(smallJob(dimensions, '1x pcie-8x-a100'));
  const many = explainJob(smallJob(dimensions, '16x dgx-h100'));

  it('price four tensor ranks over PCIe', () => {
    const { agrees, note } = ruleOf(pcie, 'no more than 2 tensor ranks over PCIe');
    expect(agrees).toBe(true);
    expect(Number(/^tensor 4 takes ([\d.]+) % more$/.exec(note ?? '')?.[1])).toBeGreaterThan(5);
    expect(many.rules.some(({ rule }) => rule.includes('PCIe'))).toBe(false);
  });

  it('hold many GPUs against 64', () => {
    const { agrees, note } = ruleOf(many, 'returns diminish beyond 64 GPUs');
    const kept = Number(/^128 GPUs reach ([\d.]+) % of the tokens\/s\/GPU of 64$/.exec(note ?? '')?.[1]);
    expect(agrees).toBe(kept < 100);
    expect(pcie.rules.some(({ rule }) => rule.startsWith('returns diminish'))).toBe(false);
  });

  it('say where data parallelism alone is said to work, and whether it does', () => {
    expect(ruleOf(pcie, 'data parallelism alone')).toMatchObject({ agrees: true, note: 'says it works here' });
  });

  it('name the part of a step in which a rule loses', () => {
    const losing = [...pcie.rules, ...many.rules].filter(({ costOverOptimum = 0 }) => costOverOptimum > 0.001);
    expect(losing.length).toBeGreaterThan(0);
    for (const { because } of losing) expect(because).toMatch(/ more of /);
  });
});

describe('break-even lines of the data axis', { timeout: 120_000 }, () => {
  const lineOf = (cluster: string, start: string) =>
    explainJob(smallJob(dimensions, cluster)).breakEven.find(({ what }) => what.startsWith(start));

  it('compare a tree with a ring over the nodes: S = n (n - 1 - log2 n) a B', () => {
    const job = smallJob(dimensions, '8x dgx-h100');
    const line = lineOf('8x dgx-h100', 'bytes of a rank below which a tree');
    const { latency, rate, efficiency } = job.cluster.inter;
    expect(line?.value).toBeCloseTo(8 * (7 - 3) * latency.value * rate.value * efficiency.value, 0);
    expect(lineOf('1x dgx-h100', 'bytes of a rank')).toBeUndefined();
  });

  it('ask how many tokens of a backward hide the sum of its gradients', () => {
    const line = lineOf('8x dgx-h100', 'tokens of the last micro-batch');
    expect(line?.value).toBeGreaterThan(0);
    expect(line?.says).toMatch(/tokens (hide|do not hide) it\.$/);
  });
});
