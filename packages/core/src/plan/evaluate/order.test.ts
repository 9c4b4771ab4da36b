import { describe, expect, it } from 'vitest';
import type { ScheduleName, ScheduleShape } from '../../schedules/index.ts';
import { LOOKAHEAD, orderBook } from './loops.ts';
import { fullOrder, type WalkOrder } from './order.ts';

const shape = (schedule: ScheduleName, stages: number, chunks: number, microBatches: number): ScheduleShape => ({
  schedule,
  stages,
  chunks,
  microBatches,
});

const shapes = [
  shape('none', 1, 1, 64),
  shape('naive', 4, 1, 64),
  shape('1f1b', 2, 1, 64),
  shape('1f1b', 3, 1, 17),
  shape('1f1b', 16, 1, 256),
  shape('1f1b', 64, 1, 1024),
  shape('interleaved-1f1b', 2, 2, 64),
  shape('interleaved-1f1b', 2, 3, 64),
  shape('interleaved-1f1b', 3, 5, 18),
  shape('interleaved-1f1b', 4, 2, 64),
  shape('interleaved-1f1b', 8, 10, 256),
  shape('gpipe', 8, 1, 64),
  shape('gpipe', 64, 1, 512),
];

/** Places of each stage as the walk visits them, every round of every loop written out. */
function walked(order: WalkOrder): readonly number[][] {
  const lists = order.lists.map((): number[] => []);
  const visit = (from: number, to: number): void => {
    for (let index = from; index < to; index++) {
      lists[order.visits.stage[index] ?? -1]?.push(order.visits.place[index] ?? -1);
    }
  };
  let at = 0;
  for (const loop of order.loops) {
    visit(at, loop.to);
    for (let extra = 0; extra < order.extra; extra++) visit(loop.from, loop.to);
    at = loop.to;
  }
  visit(at, order.visits.stage.length);
  return lists;
}

const walkOrder = orderBook();

describe('walk order', () => {
  it.each(shapes)('finds the steady state of $schedule on $stages stages', (each) => {
    const order = walkOrder(each);
    expect(order.loops).toHaveLength(each.schedule === 'gpipe' ? 2 : 1);
    expect(order.written + order.extra * order.stride).toBe(each.microBatches);
  });

  it.each(shapes)(
    'of $schedule on $stages stages is the list of all micro-batches once its rounds are written out',
    (each) => {
      for (const ahead of [LOOKAHEAD, 4 * each.stages]) {
        const lists = walked(walkOrder(each, ahead));
        expect(lists).toEqual(fullOrder(each).lists.map((list) => [...list]));
      }
    },
  );

  it.each(shapes)('of $schedule on $stages stages visits a sender before its receiver', (each) => {
    const { from, to } = walkOrder(each).visits;
    const sent = new Set<number>();
    for (const [index, transfer] of from.entries()) {
      if (transfer >= 0) expect(sent.has(transfer)).toBe(true);
      if ((to[index] ?? -1) >= 0) sent.add(to[index] ?? -1);
    }
  });

  it('is written in full when there are few micro-batches', () => {
    expect(walkOrder(shape('1f1b', 4, 1, 6))).toMatchObject({ written: 6, extra: 0, loops: [] });
  });

  it('numbers every place of the pipeline once', () => {
    const { visits, lists } = fullOrder(shape('interleaved-1f1b', 2, 2, 2));
    expect([...new Set(visits.place)].sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(lists[1]?.[0]).toBe(4);
  });
});
