/** @file Which parameters of a stage share a bucket. */
import { type Layout, mostReplicasOf } from '../layout/index.ts';
import { bytesOf } from '../tensor/index.ts';
import { type BlockCount, type BucketPlan, type ParameterCounts, total } from './parameters.ts';

/** Blocks of one chunk in model order, embed and head included where they stand on it. */
export type ChunkBlocks = readonly number[];

/** The buckets of a stage.
 *
 * Sharding 3: one for each block. Else a bucket takes blocks in the order in which backward completes them until its
 * gradients reach `bucketMB`; it never reaches over a chunk, and a block is never split. Without a data axis there is
 * nothing to reduce in pieces: one bucket. The tied matrix is always by itself, so that both ends cut it alike, and so
 * are experts over a grid of their own, in buckets by the same rule: they have other replicas. What is not trained is by
 * itself as well, for it has no gradients: by blocks under sharding 3, else in one.
 */
export function planBuckets(
  chunks: readonly ChunkBlocks[],
  counts: ParameterCounts,
  layers: number,
  layout: Layout,
): readonly BucketPlan[] {
  const countOf = (block: number): BlockCount => (block < 0 ? counts.embed : (counts.layers[block] ?? counts.head));
  const trained = (block: number): number => total(countOf(block));
  const plansOf = (group: BucketGroup) => plansOfGroup(group, chunks, countOf, layers, layout);
  return [
    ...tiedBucket(chunks, counts, layers),
    ...plansOf({ sizeOf: trained, suffix: '' }),
    ...plansOf({
      sizeOf: (block) => countOf(block).frozen ?? 0,
      suffix: '.frozen',
      frozen: true,
      isBeside: (block) => trained(block) > 0,
    }),
    ...plansOf({ sizeOf: (block) => countOf(block).experts ?? 0, suffix: '.experts', experts: true }),
    ...plansOf({
      sizeOf: (block) => countOf(block).frozenExperts ?? 0,
      suffix: '.experts',
      experts: true,
      frozen: true,
    }),
  ];
}

/** Parameters that share buckets. */
interface BucketGroup {
  readonly sizeOf: (block: number) => number;
  readonly suffix: string;
  readonly experts?: true;
  readonly frozen?: true;
  readonly isBeside?: (block: number) => boolean;
}

function plansOfGroup(
  { sizeOf, suffix, experts, frozen, isBeside = () => false }: BucketGroup,
  chunks: readonly ChunkBlocks[],
  countOf: (block: number) => BlockCount,
  layers: number,
  layout: Layout,
): readonly BucketPlan[] {
  const alone = mostReplicasOf(layout) === 1;
  const isPlain = experts === undefined && frozen === undefined;
  const kept = chunks.map((blocks) => (isPlain ? blocks : blocks.filter((block) => sizeOf(block) > 0)));
  const inOne = alone || (frozen && layout.sharding !== 3);
  const groups = inOne ? [kept.flat()] : kept.flatMap((blocks) => groupBlocks(blocks, sizeOf, layout));
  const byBlock = layout.sharding === 3 && !alone;
  const named = (blocks: readonly number[], index: number): string => {
    if (!byBlock) return `b${index}${suffix}`;
    const [block = 0] = blocks;
    const own = block < 0 ? 'embed' : block >= layers ? 'head' : `L${block}`;
    return frozen && !experts && !isBeside(block) ? own : `${own}${suffix}`;
  };
  return groups
    .map((blocks) => blocks.filter((block) => sizeOf(block) > 0))
    .filter((blocks) => blocks.length > 0)
    .map(
      (blocks, index): BucketPlan => ({
        name: named(blocks, index),
        blocks,
        tied: false,
        ...(experts && { experts }),
        ...(frozen && { frozen }),
        ...(blocks.some(isBeside) && { beside: true }),
        elements: blocks.reduce((sum, block) => sum + sizeOf(block), 0),
        summed: isPlain ? blocks.reduce((sum, block) => sum + countOf(block).summed, 0) : 0,
        readyBlock: Math.min(...blocks),
        firstBlock: Math.min(...blocks),
      }),
    );
}

function tiedBucket(chunks: readonly ChunkBlocks[], counts: ParameterCounts, layers: number): readonly BucketPlan[] {
  if (counts.tied === undefined) return [];
  const ends = chunks.flat().filter((block) => block < 0 || block >= layers);
  if (ends.length === 0) return [];
  return [
    {
      name: 'tied',
      blocks: [],
      tied: true,
      ...(counts.tied.frozen && { frozen: true as const }),
      elements: counts.tied.frozen ?? total(counts.tied),
      summed: counts.tied.summed,
      readyBlock: Math.min(...ends),
      firstBlock: Math.min(...ends),
    },
  ];
}

function groupBlocks(
  blocks: ChunkBlocks,
  sizeOf: (block: number) => number,
  layout: Layout,
): readonly (readonly number[])[] {
  if (layout.sharding === 3) return blocks.map((block) => [block]);
  const limit = layout.bucketMB * 1e6;
  const groups: number[][] = [];
  let current: number[] = [];
  let size = 0;
  for (let index = blocks.length - 1; index >= 0; index--) {
    const block = blocks[index] ?? 0;
    current.unshift(block);
    size += sizeOf(block) * bytesOf(layout.gradientType);
    if (size >= limit) {
      groups.push(current);
      current = [];
      size = 0;
    }
  }
  if (current.length > 0) groups.push(current);
  return groups;
}
