/** @file Rules of sets of shards: hybrid sharding. */
import { divisorsOf, listed, nearest } from '../../mesh/index.ts';
import { expertDataOf, hasExpertGrid } from '../experts.ts';
import { expertsWithEffect } from '../normal.ts';
import type { Layout } from '../types.ts';
import type { LayoutRule } from './rule.ts';

type ShardKey = 'sharding' | 'tensor' | 'data' | 'replicate' | 'context' | 'expert' | 'expertTensor' | 'order';

/** Rules of sets of shards; where nothing is sharded there are none. */
export const shardRules: readonly LayoutRule<ShardKey>[] = [
  {
    code: 'SHARD_NOT_DIVISOR',
    key: 'replicate',
    reads: ['sharding', 'data', 'replicate'],
    source: 'torchtitan, parallel_dims.py: dp_replicate x dp_shard is the data degree',
    find: (_job, { sharding, data, replicate }) => {
      const shard = data / replicate;
      if (sharding === 0 || (Number.isInteger(replicate) && Number.isInteger(shard))) return undefined;
      const fitting = nearest(divisorsOf(data), shard);
      return {
        message: `data ${data} cannot be split into sets of ${shown(shard)} ranks.`,
        hint: `Use shard ${listed(fitting)}.`,
        values: { data, shard, fits: fitting.map((each) => data / each) },
      };
    },
  },
  {
    code: 'SHARDS_NOT_WITH_EXPERTS',
    key: 'replicate',
    reads: ['sharding', 'tensor', 'data', 'replicate', 'context', 'expert', 'expertTensor', 'order'],
    source: 'torchtitan, parallel_dims.py: experts are dealt out within dp_shard x cp x tp, never over dp_replicate',
    find: (job, layout) => {
      const { sharding, tensor, context, data, replicate, order } = layout;
      const { expert, expertTensor } = expertsWithEffect(job, layout);
      const shard = data / replicate;
      const isHybrid = sharding > 0 && replicate > 1 && Number.isInteger(shard);
      if (!isHybrid || !hasExpertGrid({ tensor, expert, expertTensor })) return undefined;
      const repeats = (sets: number): number => expertDataOf({ tensor, context, data, expert, expertTensor }) / sets;
      if (!Number.isInteger(repeats(replicate))) {
        const fits = divisorsOf(data).filter((sets) => Number.isInteger(repeats(sets)));
        return {
          message: `a set of shards has ${tensor * context * shard} ranks (tensor ${tensor} x context ${context} x shard ${shard}), which expert ${expert} x expertTensor ${expertTensor} does not divide.`,
          hint: `Use shard ${listed(fits.map((sets) => data / sets).sort((a, b) => a - b))}.`,
          values: { shard, expert, expertTensor, fits },
        };
      }
      const behind = behindData({ tensor, context, expert, expertTensor, order });
      if (behind === undefined) return undefined;
      return {
        message: `${behind} stands behind data in the order, so a set of shards does not hold each expert once.`,
        hint: `Use shard ${data}, or name data behind ${behind} in the order.`,
        values: { order, shard, fits: [1] },
      };
    },
  },
];

const shown = (count: number): string => (Number.isInteger(count) ? String(count) : count.toFixed(2));

/** An axis of more than one rank, in either grid, that is slower than data. */
function behindData(
  layout: Pick<Layout, 'tensor' | 'context' | 'expert' | 'expertTensor' | 'order'>,
): string | undefined {
  const { tensor, context, expert, expertTensor, order } = layout;
  const degrees = { tensor: Math.max(tensor, expertTensor), context, expert };
  return (['tensor', 'context', 'expert'] as const).find(
    (axis) => degrees[axis] > 1 && order.indexOf(axis) > order.indexOf('data'),
  );
}
