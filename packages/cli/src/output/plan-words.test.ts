import type { Shown } from '@meshwright/core/plan';
import { describe, expect, it } from 'vitest';
import { linkLines, rejectionWords } from './plan-words.ts';

const row = (
  axis: string,
  collective: string,
  bytesPerRank: number,
  link: string,
  crossesNode: boolean,
  over = bytesPerRank,
) => ({
  axis,
  collective,
  count: 1,
  bytesPerRank,
  link,
  tiers: [{ link, bytesPerRank: over }],
  crossesNode,
  seconds: 1,
  exposedSeconds: 0,
  blocking: false,
});

describe('words of a plan', () => {
  it('name the link, the heavy collectives and the bytes of each axis', () => {
    const traffic = [
      row('tensor', 'all-gather', 3 * 2 ** 30, 'NVLink 4', false),
      row('tensor', 'all-reduce', 8, 'NVLink 4', false),
      row('data', 'reduce-scatter', 2 ** 30, 'InfiniBand 400 Gb/s', true, 2 ** 26),
    ];
    expect(linkLines({ traffic } as unknown as Shown)).toEqual([
      'tensor: NVLink 4, inside the node; all-gather; 3.00 GiB a rank and step.',
      'data: InfiniBand 400 Gb/s, between nodes; reduce-scatter; 1.00 GiB a rank and step, 64.0 MiB of it over InfiniBand 400 Gb/s.',
    ]);
  });
  it('tell rejections most frequent first', () => {
    expect(rejectionWords({ HEADS_NOT_DIVISIBLE: 96, OUT_OF_MEMORY: 1231 })).toBe(
      '1,231 out of memory, 96 heads not divisible',
    );
  });
});
