import { describe, expect, it } from 'vitest';
import { type Ran, runIn } from '../host.fixture.ts';
import { openJob } from './job.fixture.ts';

const explain = (...args: readonly string[]): Promise<Ran> =>
  runIn(['explain', 'job.yaml', ...args], { files: { 'job.yaml': openJob } });

describe('meshwright explain', () => {
  it('answers with where the reasoning ends, then asks question by question', async () => {
    const { code, out } = await explain();
    expect(code).toBe(0);
    expect(out.split('\n')[0]).toMatch(/ \(tp=\d+,.*\): [\d.]+ s\/step~, [\d.]+ GiB; the search finds /);
    expect(out).toMatch(/\n1\. Does one GPU hold all state and a micro-batch\?\n {3}(yes|barely|no): /);
    for (const head of ['strategy  splits', 'where costs are equal', 'rule of thumb']) expect(out).toContain(head);
  });

  it('gives the strategies alone when asked', async () => {
    const { out } = await explain('--table');
    expect(out).not.toContain('1. Does one GPU');
    expect(out).not.toContain('rule of thumb');
    expect(out).toContain('ZeRO-3');
  });

  it('gives the object of the contract', async () => {
    const { out } = await explain('--json');
    const answer = JSON.parse(out);
    expect(Object.keys(answer)[0]).toBe('schema');
    expect(answer.schema).toBe('meshwright.explain/1');
    expect(answer.table.map((row: { strategy: string }) => row.strategy)).toContain('TP+SP');
  });
});
