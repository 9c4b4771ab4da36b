/** @file A chunk of layers in numbers: whole, and cut into pieces at the events of the data axis.
 *
 * A chunk is what it holds: a row of layers by kind, the embedding or not, the head or not. Its buckets are numbered
 * from its first one; the tied matrix, which both ends share, is by itself.
 */
import { type BucketPlan, isSharded, planBuckets, sumsOverEnds } from '../../compile/index.ts';
import type { BlockMatrix } from '../../cost/index.ts';
import { mostReplicasOf } from '../../layout/index.ts';
import type { BlockPrice, BlockPrices, ChunkPrice, LayerPrice } from '../blocks.ts';
import type { LayerRow } from '../rows.ts';
import type { BucketSpec, SpecInput } from './buckets.ts';
import { pieceBytes } from './piece-bytes.ts';

/** Blocks of one kind between two events of the data axis. */
export interface Piece {
  readonly matrix: BlockMatrix;
  /** See piece-bytes.ts. */
  readonly bytes: Float64Array;
  /** Bucket that its own weights and gradients lie in, counted from the chunk's first; -1 for none. */
  readonly own: number;
  /** Bucket of its experts where these have one of their own, counted alike; -1 for none. */
  readonly experts: number;
  readonly touchesTied: boolean;
  /** Touches a second bucket: that of its experts, or the tied one. */
  readonly hasSecond: boolean;
  readonly readsWeights: boolean;
  /** Forward: its backward reads them too. */
  readonly readsAgain: boolean;
  /** After it the gradients of its own bucket, or of the tied one, are complete and can be reduced. */
  readonly completesOwn: boolean;
  readonly completesTied: boolean;
  readonly completesExperts: boolean;
}

/** What tells a chunk from others under one layout. */
export interface ChunkContent {
  readonly row: LayerRow;
  /** The first of its layers; chunks that hold the same have the parameters of the same kinds. */
  readonly firstLayer: number;
  readonly embed: boolean;
  readonly head: boolean;
  /** Its backward is the stage's last, which completes a bucket that several chunks share. */
  readonly lowest: boolean;
}

export interface ChunkSpec {
  readonly head: boolean;
  /** Without the tied matrix. */
  readonly plans: readonly BucketPlan[];
  /** Of each plan; none without a data axis, where chunks share a bucket. */
  readonly buckets: readonly BucketSpec[];
  readonly tied: BucketPlan | undefined;
  /** Buckets in the order of their first use; -1 is the tied one. */
  readonly opening: readonly number[];
  /** In one go. */
  readonly forward: ChunkPrice;
  readonly backward: ChunkPrice;
  /** Empty where nothing asks for them. */
  readonly forwardPieces: readonly Piece[];
  readonly backwardPieces: readonly Piece[];
}

/** Specs of chunks under one layout; chunks of equal content share one. */
export function chunkSpecs(
  input: SpecInput,
  bucketOf: (plan: BucketPlan) => BucketSpec,
): (content: ChunkContent) => ChunkSpec {
  const known: (ChunkSpec | undefined)[] = [];
  return (content) => {
    const { row, embed, head, lowest } = content;
    const key = row.id * 8 + (embed ? 4 : 0) + (head ? 2 : 0) + (lowest ? 1 : 0);
    const chunk = known[key] ?? chunkSpec(content, input, bucketOf);
    known[key] = chunk;
    return chunk;
  };
}

function chunkSpec(content: ChunkContent, input: SpecInput, bucketOf: (plan: BucketPlan) => BucketSpec): ChunkSpec {
  const { blocks, layout, counts, job } = input;
  const { row, firstLayer, embed, head } = content;
  const headBlock = job.model.layers.length;
  const order = Array.from({ length: row.length }, (_, index) => firstLayer + index);
  if (embed) order.unshift(-1);
  if (head) order.push(headBlock);
  const all = planBuckets([order], counts, headBlock, layout);
  const plans = all.filter((plan) => !plan.tied);
  const tied = all.find((plan) => plan.tied);
  const bucketAt = new Int32Array(headBlock + 2).fill(-1);
  const expertsAt = new Int32Array(headBlock + 2).fill(-1);
  plans.forEach((plan, bucket) => {
    const at = plan.experts ? expertsAt : bucketAt;
    for (const block of plan.blocks) at[block + 1] = bucket;
  });
  const buckets = mostReplicasOf(layout) > 1 ? plans.map(bucketOf) : [];
  const cut: Cutting = {
    input,
    content,
    plans,
    buckets,
    tied,
    headBlock,
    bucketAt,
    expertsAt,
    kindOf: kindsOf(row),
    tiedBucket: tied && bucketOf(tied),
  };
  return {
    head,
    plans,
    buckets,
    tied,
    opening: [...all].sort((a, b) => a.firstBlock - b.firstBlock).map((plan) => plans.indexOf(plan)),
    forward: blocks.whole('F', row, embed, head),
    backward: blocks.whole('B', row, embed, head),
    forwardPieces: isSharded(layout) ? pieces('F', order, cut) : [],
    backwardPieces: pieces('B', order.reverse(), cut),
  };
}

interface Cutting {
  readonly input: SpecInput;
  readonly content: ChunkContent;
  readonly plans: readonly BucketPlan[];
  readonly buckets: readonly BucketSpec[];
  readonly tied: BucketPlan | undefined;
  readonly tiedBucket: BucketSpec | undefined;
  readonly headBlock: number;
  /** Bucket of each block, the embedding's first; -1 for none. */
  readonly bucketAt: Int32Array;
  /** The same for buckets of experts. */
  readonly expertsAt: Int32Array;
  /** Kind of each layer of the chunk, counted from its first. */
  readonly kindOf: readonly number[];
}

const kindsOf = ({ runs }: LayerRow): readonly number[] =>
  runs.flatMap(({ kind, count }) => new Array<number>(count).fill(kind));

/** The kind of a block of a chunk: -1 for its embedding, -2 for its head. */
function kindOfBlock({ content, kindOf, headBlock }: Cutting, block: number): number {
  if (block < 0) return -1;
  return block >= headBlock ? -2 : (kindOf[block - content.firstLayer] as number);
}

function callOf({ ends, layers }: BlockPrices, direction: 'F' | 'B', kind: number): BlockPrice {
  const forward = direction === 'F';
  if (kind === -1) return forward ? ends.embedForward : ends.embedBackward;
  if (kind === -2) return forward ? ends.headForward : ends.headBackward;
  const layer = layers[kind] as LayerPrice;
  return forward ? layer.forward : layer.backward;
}

/** Cuts a chunk where the bucket or the kind changes; units of sharding 3 are single blocks. */
function pieces(direction: 'F' | 'B', order: readonly number[], cut: Cutting): readonly Piece[] {
  const { bucketAt, expertsAt } = cut;
  const makePiece = pieceMaker(direction, cut);
  const result: Piece[] = [];
  for (let index = 0; index < order.length; ) {
    const first = order[index] as number;
    const own = bucketAt[first + 1] as number;
    const experts = expertsAt[first + 1] as number;
    const kind = kindOfBlock(cut, first);
    let length = 1;
    while (cut.input.layout.sharding < 3 && index + length < order.length) {
      const next = order[index + length] as number;
      if (kindOfBlock(cut, next) !== kind || bucketAt[next + 1] !== own || expertsAt[next + 1] !== experts) break;
      length += 1;
    }
    result.push(makePiece(kind, order[index + length - 1] as number, length, own, experts));
    index += length;
  }
  return result;
}

/** What the bytes of a piece depend on, and they. */
interface Priced {
  readonly call: BlockPrice;
  readonly length: number;
  readonly bucket: BucketSpec | undefined;
  readonly second: BucketSpec | undefined;
  readonly makesOwn: boolean;
  readonly makesSecond: boolean;
  readonly bytes: Float64Array;
}

type MakePiece = (kind: number, last: number, length: number, own: number, experts: number) => Piece;

function pieceMaker(direction: 'F' | 'B', cut: Cutting): MakePiece {
  const { input, content, plans, buckets, tied } = cut;
  const { blocks, layout } = input;
  const tiedSums = tied !== undefined && sumsOverEnds(tied, layout);
  const completes = (bucket: number, last: number): boolean =>
    direction === 'B' && content.lowest && plans[bucket]?.readyBlock === last;
  let before: Priced | undefined;
  const made = { own: -1, experts: -1 };
  return (kind, last, length, own, experts) => {
    const call = callOf(blocks, direction, kind);
    const touchesTied = tied !== undefined && kind < 0;
    const bucket = buckets[own];
    const second = touchesTied ? cut.tiedBucket : buckets[experts];
    const makesOwn = bucket?.reducesEach === true && own !== made.own;
    // The embedding finds the tied gradients made where the head is on its stage.
    const isFirst = touchesTied ? !(kind === -1 && content.head) : experts !== made.experts;
    const makesSecond = second?.reducesEach === true && isFirst;
    made.own = own;
    if (experts >= 0) made.experts = experts;
    const same = before?.call === call && before.length === length && before.bucket === bucket;
    if (
      before === undefined ||
      !same ||
      before.second !== second ||
      before.makesOwn !== makesOwn ||
      before.makesSecond !== makesSecond
    ) {
      const bytes = pieceBytes(call.memory, length, bucket, second, { own: makesOwn, tied: makesSecond });
      before = { call, length, bucket, second, makesOwn, makesSecond, bytes };
    }
    return {
      matrix: length > 1 ? blocks.run(direction, kind, length) : call.matrix,
      bytes: before.bytes,
      own,
      experts,
      touchesTied,
      hasSecond: touchesTied || experts >= 0,
      readsWeights: call.readsWeights,
      readsAgain: direction === 'F' && callOf(blocks, 'B', kind).readsWeights,
      completesOwn: completes(own, last),
      completesTied: direction === 'B' && tied?.readyBlock === last && !tiedSums,
      completesExperts: completes(experts, last),
    };
  };
}
