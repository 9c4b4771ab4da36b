/** @file A chunk of layers in numbers: whole, and cut into pieces at the events of the data axis.
 *
 * A chunk is what it holds: a row of layers by kind, the embedding or not, the head or not. Its buckets are numbered
 * from its first one; the tied matrix, which both ends share, is by itself.
 */
import {
  type BucketPlan,
  backwardOf,
  isMirrored,
  isSharded,
  planBuckets,
  reducesEachMicroBatch,
  sumsOverEnds,
} from '../../compile/index.ts';
import { type BlockMatrix, identityMatrix } from '../../cost/index.ts';
import { mostReplicasOf } from '../../layout/index.ts';
import { placementOf } from '../../schedules/index.ts';
import type { BlockPrice, CallBytes } from '../blocks.ts';
import type { LayerRow } from '../rows.ts';
import type { Pass } from '../sample.ts';
import type { BucketSpec, SpecInput } from './buckets.ts';
import { pieceBytes } from './piece-bytes.ts';

/** Blocks of one kind between two events of the data axis. */
export interface Piece {
  readonly matrix: BlockMatrix;
  /** See piece-bytes.ts. */
  readonly bytes: Float64Array;
  /** Bucket that its own weights and gradients lie in, counted from the chunk's first; -1 for none. */
  readonly own: number;
  /** Bucket of its experts, or of what is frozen beside adapters, where these have one of their own, counted alike; -1 for
   * none. */
  readonly experts: number;
  readonly touchesTied: boolean;
  /** Gradients of one micro-batch that it makes: numbers of buckets, -1 for the tied one. */
  readonly makes: readonly number[];
  /** Touches a second bucket: that of its experts, or the tied one. */
  readonly hasSecond: boolean;
  readonly readsWeights: boolean;
  /** Forward: its backward reads them too. */
  readonly readsAgain: boolean;
  /** After it the gradients of its own bucket, or of the tied one, are complete and can be reduced. */
  readonly completesOwn: boolean;
  readonly completesTied: boolean;
  readonly completesExperts: boolean;
  /** The other end of the tied matrix, on the same stage, completes its last gradients of a step. */
  readonly isEarlierEnd: boolean;
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
  /** By number of the pass: forward and backward, and its weight and input part where the schedule splits it. */
  readonly passes: readonly PassSpec[];
}

/** One pass through a chunk: in one go, and in pieces; these are empty where nothing asks for them. */
export interface PassSpec {
  readonly whole: CallBytes & { readonly matrix: BlockMatrix };
  readonly pieces: readonly Piece[];
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
  const { layout, counts, job } = input;
  const { firstLayer, embed, head, row } = content;
  const headBlock = job.model.layers.length;
  const order = Array.from({ length: row.length }, (_, index) => firstLayer + index);
  if (embed) order.unshift(-1);
  if (head) order.push(headBlock);
  const all = planBuckets([order], counts, headBlock, layout);
  const plans = all.filter((plan) => !plan.tied);
  const tied = all.find((plan) => plan.tied);
  // Where both ends stand on one stage, the embedding's chunk gathers the matrix that this one shares, and completes it
  // unless each micro-batch passes but one of the two.
  const isSecondEnd = head && !embed && placementOf(layout.schedule) !== 'line';
  const completesAlone = isMirrored(layout) && reducesEachMicroBatch(layout);
  const bucketAt = new Int32Array(headBlock + 2).fill(-1);
  const expertsAt = new Int32Array(headBlock + 2).fill(-1);
  plans.forEach((plan, bucket) => {
    // What is frozen takes part in the walk where it is gathered.
    if (plan.frozen && layout.sharding < 3) return;
    const at = plan.experts || plan.beside ? expertsAt : bucketAt;
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
    completesTied: tied !== undefined && (!isSecondEnd || completesAlone) && !sumsOverEnds(tied, layout),
  };
  return {
    head,
    plans,
    buckets,
    tied,
    opening: [...all]
      .filter((plan) => !(plan.tied && isSecondEnd))
      .sort((a, b) => a.firstBlock - b.firstBlock)
      .map((plan) => plans.indexOf(plan)),
    passes: passSpecs(order, cut),
  };
}

/** In the order of {@link passesOf}. A schedule that never takes backward in one has nothing in its place. */
function passSpecs(order: readonly number[], cut: Cutting): readonly PassSpec[] {
  const { blocks, layout } = cut.input;
  const { row, embed, head } = cut.content;
  const up = [...order].reverse();
  const way = backwardOf(layout.schedule);
  const pass = (name: Pass, ordered: readonly number[], isCut = true): PassSpec => ({
    whole: { matrix: blocks.chunk(name, row, embed, head), ...blocks.bytes(name, row, embed, head) },
    pieces: isCut ? pieces(name, ordered, cut) : [],
  });
  const forward = pass('F', order, isSharded(layout));
  if (way === 'whole') return [forward, pass('B', up)];
  const input = pass('I', up);
  const weight = { ...pass('W', up, false), pieces: pieces('W', up, cut, input.pieces) };
  return [forward, way === 'either' ? pass('B', up) : NOTHING, weight, input];
}

const NOTHING: PassSpec = { whole: { matrix: identityMatrix(), net: 0, rise: 0 }, pieces: [] };

interface Cutting {
  readonly input: SpecInput;
  readonly content: ChunkContent;
  readonly plans: readonly BucketPlan[];
  readonly buckets: readonly BucketSpec[];
  readonly tied: BucketPlan | undefined;
  readonly tiedBucket: BucketSpec | undefined;
  readonly completesTied: boolean;
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

/** Cuts a chunk where the bucket or the kind changes; units of sharding 3 are single blocks. `before`: the pieces of the
 * input part, which have made some gradients already.
 */
function pieces(pass: Pass, all: readonly number[], cut: Cutting, before: readonly Piece[] = []): readonly Piece[] {
  const { bucketAt, expertsAt } = cut;
  const { blocks } = cut.input;
  const order = all.filter((block) => blocks.call(pass, kindOfBlock(cut, block)) !== undefined);
  const makePiece = pieceMaker(pass, cut, before);
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

/** Gradients of one micro-batch are made by the first call that adds to them; `before` has made some. */
function pieceMaker(pass: Pass, cut: Cutting, before: readonly Piece[]): MakePiece {
  const { input, content, plans, buckets, tied } = cut;
  const { blocks, layout } = input;
  const completes = (bucket: number, last: number): boolean => content.lowest && plans[bucket]?.readyBlock === last;
  const made = new Set(before.flatMap((piece) => piece.makes));
  // Where stages fold, the head of the same stage was there before the embedding.
  if (placementOf(layout.schedule) === 'fold' && content.embed) made.add(-1);
  let known: Priced | undefined;
  return (kind, last, length, own, experts) => {
    const call = blocks.call(pass, kind) as BlockPrice;
    // What a backward completes, its weight part does, or all of it where there is no such part.
    const ends = pass === 'B' || pass === 'W' || (pass === 'I' && blocks.call('W', kind) === undefined);
    const touchesTied = tied !== undefined && kind < 0;
    const bucket = buckets[own];
    const second = touchesTied ? cut.tiedBucket : buckets[experts];
    // Buckets of a chunk have numbers from 0 on; the tied one, which the other end of the chunk may have made, is -1.
    const secondAt = touchesTied ? -1 : experts;
    const adds = (to: 'own' | 'tied', at: number): boolean =>
      call.memory.events.includes(`allocate-${to}`) && !made.has(at);
    const makesOwn = bucket?.reducesEach === true && adds('own', own);
    const makesSecond = second?.reducesEach === true && adds('tied', secondAt);
    const makes = [...(makesOwn ? [own] : []), ...(makesSecond ? [secondAt] : [])];
    for (const at of makes) made.add(at);
    const same = known?.call === call && known.length === length && known.bucket === bucket;
    if (
      known === undefined ||
      !same ||
      known.second !== second ||
      known.makesOwn !== makesOwn ||
      known.makesSecond !== makesSecond
    ) {
      const bytes = pieceBytes(call.memory, length, bucket, second, { own: makesOwn, tied: makesSecond });
      known = { call, length, bucket, second, makesOwn, makesSecond, bytes };
    }
    return {
      matrix: length > 1 ? blocks.run(pass, kind, length) : call.matrix,
      bytes: known.bytes,
      own,
      experts,
      touchesTied,
      makes,
      hasSecond: touchesTied || experts >= 0,
      readsWeights: call.readsWeights,
      readsAgain: pass === 'F' && (blocks.call('B', kind) ?? blocks.call('I', kind))?.readsWeights === true,
      completesOwn: ends && completes(own, last),
      completesTied: ends && cut.completesTied && tied?.readyBlock === last,
      completesExperts: ends && completes(experts, last),
      isEarlierEnd: isMirrored(layout) && content.head,
    };
  };
}
