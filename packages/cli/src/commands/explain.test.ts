import { describe, expect, it } from 'vitest';
import { type Ran, runIn } from '../host.fixture.ts';

/** Small enough that every strategy is priced in no time. */
const smallJob = `model: { kind: gpt2, layers: 4, hidden: 512, heads: 8, ffn: 2048, vocab: 512, positions: 1024 }
cluster: 1x dgx-h100
batch: { sequences: 32, length: 1024 }
`;

const explain = (...args: readonly string[]): Promise<Ran> =>
  runIn(['explain', 'job.yaml', ...args], { files: { 'job.yaml': smallJob } });

describe('meshwright explain', { timeout: 30_000 }, () => {
  it('answers with where the reasoning ends, then asks question by question', async () => {
    const { code, out } = await explain();
    expect(code).toBe(0);
    expect(out.split('\n')[0]).toMatch(
      / \(tp=\d+,.*\): [\d.]+ s\/step~, [\d.]+ GiB; (the search finds none faster|[\d.]+ % over the best of the search)$/,
    );
    expect(out).toMatch(/\n1\. Does one GPU hold all state and a micro-batch\?\n {3}(yes|barely|no): /);
    for (const head of ['strategy  splits', 'where costs are equal', 'rule of thumb']) expect(out).toContain(head);
  });

  it('asks the same questions of every strategy, one unit a column', async () => {
    const { out } = await explain('--format', 'csv');
    const [head = '', ...rows] = out.trim().split('\n');
    expect(head).toBe(
      'strategy,state GiB,device GiB~,fits,sent GiB,over,GB/s~,waits ms~,waits %~,bubble %~,step ms~,batch = N m b,layout',
    );
    expect(rows.map((row) => row.split(',')[0])).toEqual(['DP', 'ZeRO-1', 'ZeRO-2', 'ZeRO-3', 'TP', 'TP+SP', 'PP']);
    const text = (await explain('--table')).out;
    for (const column of ['splits', 'state of a GPU', 'sent by a GPU a step', 'batch', 'when', 'blocks', 'link']) {
      expect(text).toContain(`  ${column}`);
    }
    expect(text).toContain('(4 + 12/N) Psi');
  });

  it('keeps sentences on a screen', async () => {
    const { out } = await explain();
    const flow = out.slice(0, out.indexOf('strategy  state'));
    for (const line of flow.split('\n')) expect(line.length, line).toBeLessThanOrEqual(130);
  });

  it('names the rule that a strategy breaks', async () => {
    const odd = smallJob.replace('hidden: 512, heads: 8', 'hidden: 448, heads: 7');
    const { out } = await runIn(['explain', 'job.yaml', '--table'], { files: { 'job.yaml': odd } });
    expect(out).toMatch(/\nTP +- +- +HEADS_NOT_DIVISIBLE /);
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
