import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Layout } from '../../layout/index.ts';
import type { Item, ListOperation, RankList } from '../../program/index.ts';
import { decodeInvocation, type Invocation, scheduleCodes, shapeOf } from '../../schedules/index.ts';
import { compileProgram, isMirrored, microBatches } from '../index.ts';
import { type Case, cases } from '../laws/cases.fixture.ts';
import { blocksByLaw } from '../laws/index.ts';
import { livedLists } from '../laws/lived.fixture.ts';
import { lineOf, toyJob, toyLayout } from '../toy.fixture.ts';

const isExchange = (item: Item, kind: string, lane?: string): item is ListOperation =>
  item.kind === 'operation' && item.operation.kind === kind && (lane === undefined || item.operation.lane === lane);

/** An invocation with the lines of its first and last call. */
interface Placed extends Invocation {
  readonly first: number;
  readonly last: number;
}

/** Finds the calls of each invocation of a schedule in the list, in order. */
function placed({ job, layout }: Case, list: RankList): readonly Placed[] {
  const shape = shapeOf(layout, microBatches(job, layout));
  const calls = list.items.filter((item) => item.kind === 'call');
  const chunks = blocksByLaw(layout, job.model.layers.length, list.pipeline);
  let at = 0;
  return Array.from(scheduleCodes(shape, list.pipeline), decodeInvocation).map((invocation) => {
    const blocks = chunks[invocation.chunk] ?? [];
    const order = ordered(invocation, blocks, layout, job.model.layers.length);
    const first = calls[at];
    const seen: number[] = [];
    for (; seen.length < order.length; at++) {
      const call = calls[at];
      if (call === undefined) throw new Error('internal: calls are missing.');
      expect([call.microBatch, call.template.startsWith(call.again ? 'F.' : invocation.kind)]).toEqual([
        invocation.microBatch,
        true,
      ]);
      const step = call.last < call.first ? -1 : 1;
      if (!call.again) for (let block = call.first; block !== call.last + step; block += step) seen.push(block);
    }
    expect(seen).toEqual(order);
    return { ...invocation, first: first?.id ?? 0, last: calls[at - 1]?.id ?? 0 };
  });
}

/** Backward goes up; an embedding has no input part, a loss in pieces no weight part. */
function ordered(
  { kind }: Invocation,
  blocks: readonly number[],
  { lossChunks }: Case['layout'],
  layers: number,
): readonly number[] {
  if (kind === 'F') return blocks;
  const own = blocks.filter((block) => {
    if (kind === 'I') return block >= 0;
    return kind === 'B' || block < layers || lossChunks === 1;
  });
  return own.reverse();
}

describe('a list', () => {
  it('calls the blocks of each invocation in the order of its schedule', () => {
    fc.assert(
      fc.property(cases('padded'), (each) => {
        for (const list of compileProgram(each.job, each.layout).lists) placed(each, list);
      }),
      { numRuns: 60 },
    );
  });

  it('posts a receive before the invocation that precedes its own, behind the end of the one before that', () => {
    fc.assert(
      fc.property(
        cases('padded').filter(({ layout }) => layout.pipeline > 1),
        (each) => {
          for (const list of compileProgram(each.job, each.layout).lists) {
            const invocations = placed(each, list);
            const receives = list.items.filter((item) => isExchange(item, 'recv'));
            const own = invocations.flatMap((invocation, index) => (needsInput(each, list, invocation) ? [index] : []));
            expect(receives).toHaveLength(own.length);
            for (const [order, index] of own.entries()) {
              const receive = receives[order];
              const before = invocations[index - 1];
              const earlier = invocations[index - 2];
              expect(receive?.id).toBeLessThan(before?.first ?? invocations[index]?.first ?? 0);
              expect(receive?.id).toBeGreaterThan(earlier?.last ?? 0);
              expect(receive?.needs).toEqual(earlier ? [earlier.last] : []);
            }
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('sends right after the last call of an invocation, before its gradients are reduced', () => {
    fc.assert(
      fc.property(
        cases('padded').filter(({ layout }) => layout.pipeline > 1),
        (each) => {
          for (const list of compileProgram(each.job, each.layout).lists) {
            const ends = new Set(placed(each, list).map(({ last }) => last));
            for (const send of list.items.filter((item) => isExchange(item, 'send'))) {
              const between = list.items
                .slice(0, send.id - 1)
                .reverse()
                .findIndex((item) => ends.has(item.id));
              const skipped = list.items.slice(send.id - 1 - between, send.id - 1);
              expect(skipped.every((item) => isExchange(item, 'collective', 'data.gather'))).toBe(true);
            }
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

/** A forward receives unless its chunk has the embedding, a backward unless it has the head; a chunk that its own stage
 * hands over to does not, and weight parts never do.
 */
function needsInput({ job, layout }: Case, list: RankList, { chunk, kind }: Invocation): boolean {
  if (kind === 'W') return false;
  const layers = job.model.layers.length;
  const blocks = blocksByLaw(layout, layers, list.pipeline)[chunk] ?? [];
  if (blocks.includes(kind === 'F' ? -1 : layers)) return false;
  // Of two copies of the model each hands over to its own.
  if (isMirrored(layout)) return true;
  const before = kind === 'F' ? (blocks[0] ?? 0) - 1 : (blocks.at(-1) ?? 0) + 1;
  return !blocksByLaw(layout, layers, list.pipeline).flat().includes(before);
}

const lines = (changes: Partial<Layout>, stage = 0): readonly string[] =>
  (compileProgram(toyJob(), toyLayout(changes)).lists[stage]?.items ?? []).map((item) =>
    lineOf(item).replace(/^\d+ /, ''),
  );

describe('reductions of gradients', () => {
  const alone: Partial<Layout> = {
    pipeline: 1,
    layersPerStage: [2],
    schedule: 'none',
    tensor: 1,
    sequenceParallel: false,
  };
  const small = 0.000_01;
  const reduced = (changes: Partial<Layout>) =>
    lines({ ...alone, ...changes }).filter((line) => /^(B\.|data\.reduce)/.test(line));

  it('follow the block that completes a bucket in the last micro-batch, one bucket behind the other', () => {
    expect(reduced({ sharding: 0, bucketMB: small })).toEqual([
      'B.head[2,0]',
      'B.layer[1..0,0]',
      'B.embed[-1,0]',
      'B.head[2,1]',
      'data.reduce all-reduce G.b0 -> G.b0',
      'B.layer[1,1]',
      'data.reduce all-reduce G.b1 -> G.b1',
      'B.layer[0,1]',
      'data.reduce all-reduce G.b2 -> G.b2',
      'B.embed[-1,1]',
      'data.reduce all-reduce G.tied -> G.tied',
      'data.reduce all-reduce G.b3 -> G.b3',
    ]);
  });

  it('wait for the lowest block of a bucket that holds several', () => {
    expect(reduced({ sharding: 1 }).slice(-4)).toEqual([
      'B.layer[1..0,1]',
      'B.embed[-1,1]',
      'data.reduce reduce-scatter G.tied -> S.tied',
      'data.reduce reduce-scatter G.b0 -> S.b0',
    ]);
  });

  it('come with each micro-batch where gradients are cut, into the shard', () => {
    const each = reduced({ sharding: 2, gradientReduction: 'per-micro-batch' });
    expect(each.filter((line) => line.startsWith('data.'))).toEqual([
      'data.reduce reduce-scatter G.tied[0] -> S.tied',
      'data.reduce reduce-scatter G.b0[0] -> S.b0',
      'data.reduce reduce-scatter G.tied[1] -> S.tied',
      'data.reduce reduce-scatter G.b0[1] -> S.b0',
    ]);
  });

  it('that hold up compute come behind the last call, each once the one before has ended', () => {
    const changes: Partial<Layout> = { ...alone, sharding: 1, bucketMB: small, overlap: ['parameters', 'pipeline'] };
    const items = compileProgram(toyJob(), toyLayout(changes)).lists[0]?.items ?? [];
    const last = items.findLast((item) => item.kind === 'call');
    const reductions = items.filter((item) => isExchange(item, 'collective', 'data.reduce'));
    expect(reductions.map(({ needs }) => needs)).toEqual(reductions.map(() => [last?.id]));
    expect(reductions.map(lineOf).map((line) => line.split(' ')[5])).toEqual([
      'S.b0',
      'S.b1',
      'S.b2',
      'S.tied',
      'S.b3',
    ]);
  });

  it('of each micro-batch hold up every call behind them', () => {
    const changes: Partial<Layout> = {
      ...{ ...alone, sharding: 2, gradientReduction: 'per-micro-batch' },
      overlap: ['parameters', 'pipeline'],
    };
    let latest = 0;
    for (const item of compileProgram(toyJob(), toyLayout(changes)).lists[0]?.items ?? []) {
      if (isExchange(item, 'collective', 'data.reduce')) latest = item.id;
      else if (item.kind === 'call') expect(item.needs).toEqual(latest === 0 ? [] : [latest]);
    }
    expect(latest).toBeGreaterThan(0);
  });

  it('come behind the sum over tensor while gradients are whole', () => {
    const tail = lines({}).filter((line) => /^(tensor|data\.reduce) /.test(line) && line.includes('b0'));
    expect(tail).toEqual(['tensor all-reduce G.b0.summed -> G.b0.summed', 'data.reduce reduce-scatter G.b0 -> S.b0']);
  });
});

describe('gathers', () => {
  it('of updated weights open the period in the order in which forward reads them', () => {
    const opening = lines({ bucketMB: 0.000_01 }).slice(0, 4);
    expect(opening).toEqual([
      'data.gather all-gather W.tied -> W.tied',
      'data.gather all-gather W.b1 -> W.b1',
      'data.gather all-gather W.b0 -> W.b0',
      'F.embed[-1,0]',
    ]);
  });

  it('of updated weights that hold up compute end before the first call', () => {
    const changes: Partial<Layout> = { bucketMB: 0.000_01, overlap: ['data', 'pipeline'] };
    const calls = compileProgram(toyJob(), toyLayout(changes)).lists[0]?.items.filter(({ kind }) => kind === 'call');
    expect(calls?.slice(0, 2).map(({ needs }) => needs)).toEqual([[3], []]);
  });

  it('of units run ahead by the prefetch and no more: 1 + prefetch units are whole at a time', () => {
    fc.assert(
      fc.property(
        cases('padded').filter(({ layout }) => layout.sharding === 3 && layout.reshard),
        ({ job, layout }) => {
          for (const { lifetimes, list } of livedLists(compileProgram(job, layout))) {
            const runs = lifetimes.ranges.flatMap(({ instance: { name }, first, last }) => {
              const run = /^W\..*@(\d+)$/.exec(name)?.[1];
              return run === undefined ? [] : [{ run: Number(run), first, last }];
            });
            for (const { index } of list.operations) {
              const whole = new Set(
                runs.filter(({ first, last }) => first <= index && index <= last).map(({ run }) => run),
              );
              expect(whole.size).toBeLessThanOrEqual(1 + layout.prefetch);
            }
          }
        },
      ),
      { numRuns: 20 },
    );
  });

  it('of run j wait for the end of run j - 1 - prefetch, the first ones for nothing', () => {
    fc.assert(
      fc.property(
        cases('padded').filter(({ layout }) => layout.sharding === 3 && layout.reshard),
        ({ job, layout }) => {
          for (const { items } of compileProgram(job, layout).lists) {
            const ends = new Map<number, number>();
            for (const item of items) {
              if (item.kind === 'call') for (const run of Object.values(item.using ?? {})) ends.set(run, item.id);
            }
            for (const gather of items.filter((item) => isExchange(item, 'collective', 'data.gather'))) {
              const run = Number(/@(\d+)$/.exec(gather.operation.writes[0]?.buffer ?? '')?.[1]);
              const before = ends.get(run - 1 - layout.prefetch);
              expect(gather.needs).toEqual(before === undefined ? [] : [before]);
              expect(gather.id).toBeLessThan(ends.get(run) ?? 0);
            }
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});
