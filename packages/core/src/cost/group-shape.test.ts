import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AxisName, createMesh, groupsAlong, worldSize } from '../mesh/index.ts';
import { axisBits, ENDS, groupAxes, spreadOver } from './group-shape.ts';

const axes = ['tensor', 'data', 'pipeline'] as const;
const degree = fc.integer({ min: 1, max: 6 });

describe('where the ranks of a group sit', () => {
  it('is what counting members block by block finds', () => {
    fc.assert(
      fc.property(
        degree,
        degree,
        degree,
        fc.subarray([...axes]),
        fc.integer({ min: 1, max: 12 }),
        (t, d, p, some, size) => {
          const mesh = createMesh({ tensor: t, data: d, pipeline: p });
          const mask = some.reduce((sum, axis: AxisName) => sum | axisBits[axis], 0);
          const counted = groupsAlong(mesh, some).map((group) => {
            const blocks = new Map<number, number>();
            for (const rank of group) {
              const block = Math.floor(rank / size);
              blocks.set(block, (blocks.get(block) ?? 0) + 1);
            }
            return { members: Math.min(...blocks.values()), blocks: blocks.size };
          });
          const spread = spreadOver(groupAxes(mesh, mask), size, worldSize(mesh));
          // Groups beyond the first 64 are not looked at one by one.
          if (counted.length > 64) return;
          expect(spread.members).toBe(Math.min(...counted.map((each) => each.members)));
          expect(spread.blocks).toBe(Math.max(...counted.map((each) => each.blocks)));
        },
      ),
    );
  });
  it('takes only the ends of an axis', () => {
    const mesh = createMesh({ tensor: 2, pipeline: 4 });
    const ends = groupAxes(mesh, axisBits.pipeline | ENDS);
    expect(ends).toMatchObject({ ranks: 2, strides: [6], degrees: [2] });
    expect(spreadOver(ends, 8, 8)).toEqual({ members: 2, blocks: 1 });
    expect(spreadOver(ends, 4, 8)).toEqual({ members: 1, blocks: 2 });
  });
});
