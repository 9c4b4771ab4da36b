/** @file Rules of sets of shards: hybrid sharding. */
import { divisorsOf, listed, nearest } from '../../mesh/index.ts';
import { blockParameters } from '../../model/index.ts';
import { expertDataOf, hasExpertGrid } from '../experts.ts';
import type { LayoutJob } from '../job.ts';
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
    code: 'ADAPTERS_NOT_SHARDED',
    key: 'sharding',
    reads: ['sharding', 'tensor', 'expert', 'expertTensor'],
    source: 'step programs: a unit is gathered whole for each use, and has two buckets at most',
    find: (job, layout) => {
      const { expert, expertTensor } = expertsWithEffect(job, layout);
      const { sharding, tensor } = layout;
      if (job.model.adapters === undefined || sharding !== 3) return undefined;
      const values = { sharding, fits: [0, 1, 2] };
      const hint = 'Use sharding 0, 1 or 2.';
      if (hasExpertGrid({ tensor, expert, expertTensor })) {
        const message = `sharding 3 of adapters, frozen weights and experts over a grid of their own (expert ${expert}, expertTensor ${expertTensor}) is not modelled.`;
        return { message, hint, values };
      }
      if (!adaptsLastOnly(job)) return undefined;
      const message = `sharding 3 is not modelled where adapters stand beside the last products of a layer only (${job.model.adapters.targets.join(', ')}): the first layer gathers frozen weights that its backward does not read.`;
      return { message, hint, values };
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

/** Nothing frozen stands between the output of the first layer and its adapters. */
function adaptsLastOnly({ model }: LayoutJob): boolean {
  const [first] = model.layers;
  const placement = first?.placement ?? 'pre';
  if (placement === 'post' || placement === 'both') return false;
  const last = placement === 'pre' ? ['fc2.A'] : ['fc2.A', 'proj.A'];
  return blockParameters(model, 0).every(({ name }) => !name.endsWith('.A') || last.includes(name));
}

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
