/** @file When gradients of a stage cross the data axis: as soon as they are complete, or where the layout holds them back. */
import type { Invocation } from '../../schedules/index.ts';
import type { Outline, StageOutline } from '../outline.ts';
import { type BucketPlan, isMirrored, replicasOfBucket } from '../parameters.ts';
import { partsOf } from '../templates/split.ts';
import { isSharded, reducesEachMicroBatch, reductionsBlock, sumsOverEnds, sumsOverSets } from './containers.ts';
import { blockKind } from './runs.ts';
import { accumulate, overReplicas, overSets, sumInPlace, type Writer, write } from './writer.ts';

/** Reductions of the gradients of a stage. */
export interface Reductions {
  /** Buckets whose gradients are complete after this block of this micro-batch's backward. */
  ready(block: number, invocation: Invocation): readonly BucketPlan[];
  reduce(bucket: BucketPlan, invocation: Invocation): void;
  /** Lines that hold up the calls that follow. */
  blocking(): readonly number[];
  /** Reductions that were held back, behind the last call of the step. */
  close(end: number): void;
}

export function createReductions(
  outline: Outline,
  stage: StageOutline,
  invocations: readonly Invocation[],
  writer: Writer,
): Reductions {
  const { layout, layers } = outline;
  const trained = stage.buckets.filter(({ frozen }) => !frozen);
  const completing = completingInvocations(invocations);
  const blocks = reductionsBlock(layout);
  const late: (readonly [BucketPlan, Invocation])[] = [];
  let latest: readonly number[] = [];
  const reduce = (bucket: BucketPlan, at: Invocation, needs: readonly number[]): readonly number[] =>
    reduceBucket(outline, bucket, at, completing.has(at) && holdsReady(bucket, stage, at), needs, writer);
  return {
    ready: (block, invocation) =>
      trained.filter(
        (bucket) =>
          endsAt(bucket, block, outline) &&
          completes(invocation.kind, partsOf(blockKind(block, layers), outline.context)) &&
          (reducesEachMicroBatch(layout, bucket) || completing.has(invocation)) &&
          !sumsOverEnds(bucket, layout),
      ),
    reduce: (bucket, at) => {
      if (!blocks) reduce(bucket, at, []);
      else if (reducesEachMicroBatch(layout, bucket)) latest = reduce(bucket, at, []);
      else late.push([bucket, at]);
    },
    blocking: () => latest,
    close: (end) => {
      for (const [bucket, at] of late) reduce(bucket, at, [end]);
    },
  };
}

/** Gradients of a bucket are complete after this block. Of two copies of the model a stage holds both ends, of which one
 * micro-batch passes the embedding or the head, not the one and then the other. */
const endsAt = (bucket: BucketPlan, block: number, { layout, layers }: Outline): boolean =>
  bucket.readyBlock === block ||
  (bucket.tied && block >= layers && isMirrored(layout) && reducesEachMicroBatch(layout, bucket));

/** The last gradients of a step are those of the chunk with this block: the other end of a tied matrix comes before. */
const holdsReady = ({ readyBlock }: BucketPlan, { chunks }: StageOutline, { chunk }: Invocation): boolean =>
  chunks[chunk]?.blocks.includes(readyBlock) === true;

/** A backward in one completes the gradients of a block, else its weight part, else its input part where it has no other. */
const completes = (kind: Invocation['kind'], parts: readonly ('I' | 'W')[]): boolean =>
  kind === 'B' || kind === parts.at(-1);

/** The last invocation of each chunk that adds to gradients of weights, and the last that passes a gradient on. */
function completingInvocations(invocations: readonly Invocation[]): ReadonlySet<Invocation> {
  const last = new Map<string, Invocation>();
  for (const invocation of invocations) {
    const { kind, chunk } = invocation;
    if (kind === 'B' || kind === 'W') last.set(`W${chunk}`, invocation);
    if (kind === 'B' || kind === 'I') last.set(`I${chunk}`, invocation);
  }
  return new Set(last.values());
}

/** While gradients are whole, sums over tensor come before the data axis; sharded ones are summed in the tail. The last time
 * in a step the shard is summed over the sets of shards. Gives the lines that end last. */
function reduceBucket(
  outline: Outline,
  bucket: BucketPlan,
  invocation: Invocation,
  isLast: boolean,
  needs: readonly number[],
  writer: Writer,
): readonly number[] {
  const { layout } = outline;
  const { name } = bucket;
  const each = reducesEachMicroBatch(layout, bucket);
  const gradient = each ? `G.${name}[${invocation.microBatch}]` : `G.${name}`;
  if (!each && bucket.summed > 0) writer.operation(sumInPlace(`G.${name}.summed`, 'tensor', name), needs);
  if (replicasOfBucket(bucket, layout) === 1) return [];
  if (!isSharded(layout, bucket)) {
    return [writer.operation(overReplicas(layout, 'all-reduce', gradient, write(gradient), bucket), needs)];
  }
  const shard = each ? accumulate(`S.${name}`) : write(`S.${name}`);
  const scattered = writer.operation(overReplicas(layout, 'reduce-scatter', gradient, shard, bucket), needs);
  if (!isLast || !sumsOverSets(layout, bucket)) return [scattered];
  return [scattered, writer.operation(overSets(layout, bucket))];
}
