import { describe, expect, it } from 'vitest';
import type { ScheduleName } from '../../schedules/index.ts';
import { walkOrder } from './order.ts';

const shape = (schedule: ScheduleName, stages: number, chunks: number, microBatches: number) => ({
  schedule,
  stages,
  chunks,
  microBatches,
});

describe('walk order', () => {
  it.each([
    shape('none', 1, 1, 64),
    shape('naive', 4, 1, 64),
    shape('1f1b', 2, 1, 64),
    shape('1f1b', 16, 1, 256),
    shape('1f1b', 64, 1, 1024),
    shape('interleaved-1f1b', 2, 3, 64),
    shape('interleaved-1f1b', 4, 2, 64),
    shape('interleaved-1f1b', 8, 10, 256),
    shape('gpipe', 8, 1, 64),
    shape('gpipe', 64, 1, 512),
  ])('finds the steady state of $schedule on $stages stages', (each) => {
    const order = walkOrder(each);
    expect(order.loops).toHaveLength(each.schedule === 'gpipe' ? 2 : 1);
    expect(order.written + order.extra * order.stride).toBe(each.microBatches);
  });
  it('is written in full when there are few micro-batches', () => {
    expect(walkOrder(shape('1f1b', 4, 1, 8))).toMatchObject({ written: 8, extra: 0, loops: [] });
  });
});
