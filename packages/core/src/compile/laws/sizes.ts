/** @file How many parameters a stage has on one rank, in closed form from the dimensions of the model, and the pieces in
 * which they are padded, reduced and gathered. Nothing here reads a program or a parameter's own description.
 */
import type { Job } from '../../job/index.ts';
import type { Layout } from '../../layout/index.ts';
import type { DenseFfn, LatentAttention, LayerSpec, ModelSpec, MoeFfn } from '../../model/index.ts';
import { chunksHeld, type InvocationKind, positionOf, scheduleList, shapeOf } from '../../schedules/index.ts';
import { microBatches } from '../context.ts';

/** Elements of one rank. */
export interface Sizes {
  /** Whole parameters whose gradients are partial over tensor: summed once a step. */
  readonly summed: number;
  readonly rest: number;
}

/** Elements of one rank that lie, are padded and travel together. */
export interface Piece extends Sizes {
  /** The matrix that first and last stage share. */
  readonly tied: boolean;
  /** How often a step gathers it under sharding 3. */
  readonly gathers: number;
}

/** Sizes of each kind of block; `tied` is not in `embed`. */
export interface ModelSizes {
  readonly embed: Sizes;
  /** Layer by layer. */
  readonly layers: readonly Sizes[];
  readonly head: Sizes;
  readonly tied: Sizes | undefined;
}

/** Parameters of each block on one of `t` tensor ranks; 12 h^2 + 13 h for a GPT layer at t = 1.
 *
 * Matrices, and the biases of what is cut by output, are cut t ways. Norms, biases of row-parallel products and learned
 * positions are whole; with sequence parallelism each rank sees a part of the tokens, so their gradients are summed over
 * tensor: 6 h per GPT layer, 2 h per Llama layer. Routers and the norms of queries and keys are whole too, and summed with
 * or without it.
 * Source: docs/sources.md, Laws, "Tensor"; [korthikanti2022].
 */
export function sizesByLaw(model: ModelSpec, layout: Pick<Layout, 'tensor' | 'sequenceParallel'>): ModelSizes {
  const { hidden: h, vocabulary, learnedPositions = 0, tied, norm } = model;
  const { tensor: t } = layout;
  const normSize = (norm === 'layernorm' && model.normBias !== false ? 2 : 1) * h;
  const matrix = (vocabulary * h) / t;
  const headBias = model.headBias ? vocabulary / t : 0;
  const split = (whole: number, rest: number, always = 0): Sizes => {
    const sharded = layout.sequenceParallel && t > 1;
    const summed = (sharded ? whole : 0) + (t > 1 ? always : 0);
    return { summed, rest: whole + always + rest - summed };
  };
  return {
    embed: split(learnedPositions * h + (model.embeddingNorm ? normSize : 0), tied ? 0 : matrix),
    layers: model.layers.map((layer) => {
      const { vectors, apart, cut, norms, complete } = layerSizes(layer, h);
      return split(norms * normSize + vectors, cut / t + complete, apart);
    }),
    head: split(normSize, (tied ? 0 : matrix) + headBias),
    tied: tied ? { summed: 0, rest: matrix } : undefined,
  };
}

/** Norms of a layer by where they stand. */
const normsOf = { pre: 2, post: 2, both: 4, parallel: 2, 'parallel-shared': 1 } as const;

/** Of one layer, over all tensor ranks: row-parallel biases, what is whole and summed always, what is cut, norms. */
function layerSizes({ attention, ffn, placement = 'pre' }: LayerSpec, h: number) {
  const attended = attentionSizes(attention, h);
  const fed = ffn.kind === 'moe' ? expertSizes(ffn, h) : denseSizes(ffn, h);
  return {
    vectors: (attention.outBias ? h : 0) + attended.vectors + fed.vectors,
    apart: attended.apart + fed.apart,
    norms: normsOf[placement],
    cut: attended.cut + fed.cut,
    complete: fed.complete,
  };
}

/** Sizes of a half of a layer; `complete`: whole, and never summed over tensor. */
interface PartSizes {
  readonly vectors: number;
  readonly apart: number;
  readonly cut: number;
  readonly complete: number;
}

function attentionSizes(attention: LayerSpec['attention'], h: number): Omit<PartSizes, 'complete'> {
  if (attention.kind === 'latent') return latentSizes(attention, h);
  const query = attention.heads * attention.headSize;
  const key = attention.kvHeads * attention.headSize;
  const norms = attention.queryKeyNorm;
  const fused = query + 2 * key;
  return {
    apart: norms === 'head' ? 2 * attention.headSize : 0,
    cut:
      h * (fused + query) +
      (attention.qkvBias ? fused : 0) +
      (norms === 'projection' || norms === 'heads' ? query + key : 0) +
      (attention.sinks ? attention.heads : 0),
    vectors: 0,
  };
}

/** Narrow products and their norms are whole, and know the rank's own tokens; the products that widen are cut by heads. */
function latentSizes(attention: LatentAttention, h: number): Omit<PartSizes, 'complete'> {
  const { heads: a, queryRank: r, keyValueRank: c, nopeSize, ropeSize, valueSize, qkvBias } = attention;
  const narrow = (r === undefined ? 0 : r * h + r) + (c + ropeSize) * h + c;
  const biases = qkvBias ? (r ?? 0) + c + ropeSize : 0;
  return {
    apart: 0,
    vectors: narrow + biases,
    cut: a * ((nopeSize + ropeSize) * (r ?? h) + (nopeSize + valueSize) * c + valueSize * h),
  };
}

function denseSizes({ width, gated, bias }: DenseFfn, h: number): PartSizes {
  const inner = (gated ? 2 : 1) * width;
  return { vectors: bias ? h : 0, apart: 0, cut: h * (inner + width) + (bias ? inner : 0), complete: 0 };
}

function expertSizes(ffn: MoeFfn, h: number): PartSizes {
  const { experts, width, gated, bias, shared } = ffn;
  const inner = (gated ? 2 : 1) * width;
  const sharedWidth = shared ? (gated ? 3 : 2) * shared.width : 0;
  return {
    vectors: 0,
    apart: experts * h + (ffn.routerBias ? experts : 0) + (shared?.gate ? h : 0),
    cut: experts * (h * (inner + width) + (bias ? inner : 0)) + h * sharedWidth,
    complete: (ffn.selectionBias ? experts : 0) + (bias ? experts * h : 0),
  };
}

/** Blocks of each chunk of a stage in model order: embed -1, layers, head L. Chunk c of stage i stands at c p + i. */
export function blocksByLaw(layout: Layout, layers: number, stage: number): readonly (readonly number[])[] {
  const { layersPerStage } = layout;
  return Array.from({ length: chunksHeld(layout) }, (_, chunk) => {
    const position = positionOf(layout, stage, chunk);
    const first = layersPerStage.slice(0, position).reduce((sum, count) => sum + count, 0);
    const own = Array.from({ length: layersPerStage[position] ?? 0 }, (__, index) => first + index);
    const isLast = position === layersPerStage.length - 1;
    return [...(position === 0 ? [-1] : []), ...own, ...(isLast ? [layers] : [])];
  });
}

/** The pieces of a stage when nothing is cut into buckets: one for each block under sharding 3, else all in one; the tied
 * matrix is always by itself, so that both ends cut it alike.
 */
export function piecesByLaw(job: Job, layout: Layout, stage: number): readonly Piece[] {
  const { model } = job;
  const layers = model.layers.length;
  const sizes = sizesByLaw(model, layout);
  const blocks = blocksByLaw(layout, layers, stage).flat();
  const sizeOf = (block: number): Sizes => (block < 0 ? sizes.embed : (sizes.layers[block] ?? sizes.head));
  const ends = blocks.filter((block) => block < 0 || block >= layers);
  const gathers = layout.sharding === 3 ? gathersByLaw(job, layout, stage) : () => 0;
  const tied: readonly Piece[] =
    sizes.tied && ends.length > 0
      ? [{ ...sizes.tied, tied: true, gathers: ends.reduce((sum, block) => sum + gathers(block), 0) }]
      : [];
  const apart = blocks.map((block): Piece => ({ ...sizeOf(block), tied: false, gathers: gathers(block) }));
  if (layout.sharding === 3) return [...tied, ...apart];
  const together = apart.reduce((sum, each) => ({
    ...sum,
    summed: sum.summed + each.summed,
    rest: sum.rest + each.rest,
  }));
  return [...tied, together];
}

/** How often a step gathers each block under sharding 3: one gather for each run of equal neighbours among the uses;
 * one where units are kept.
 *
 * A block is used 2 m times, an embedding m times where backward is split: weight parts read no weights. Neighbours are equal only where one invocation of a chunk follows another: forward then
 * backward repeats the chunk's last block, backward then forward its first, and twice the same way repeats the only block.
 * Source: docs/sources.md, Laws, "Data".
 */
export function gathersByLaw(job: Job, layout: Layout, stage: number): (block: number) => number {
  const m = microBatches(job, layout);
  if (!layout.reshard) return () => 1;
  const list = scheduleList(shapeOf(layout, m), stage).filter(({ kind }) => kind !== 'W');
  const blocks = blocksByLaw(layout, job.model.layers.length, stage);
  const repeated = new Map<number, number>();
  const uses = new Map<number, number>();
  for (const [index, { chunk, kind }] of list.entries()) {
    const next = list[index + 1];
    const own = usedBy(kind, blocks[chunk] ?? []);
    for (const block of own) uses.set(block, (uses.get(block) ?? 0) + 1);
    if (next?.chunk !== chunk || ((next.kind === 'F') === (kind === 'F') && own.length > 1)) continue;
    const block = kind === 'F' ? own.at(-1) : own[0];
    if (block !== undefined && usedBy(next.kind, [block]).length > 0)
      repeated.set(block, (repeated.get(block) ?? 0) + 1);
  }
  return (block) => (uses.get(block) ?? 0) - (repeated.get(block) ?? 0);
}

/** The input part of a backward does not use the embedding. */
const usedBy = (kind: InvocationKind, blocks: readonly number[]): readonly number[] =>
  kind === 'I' ? blocks.filter((block) => block >= 0) : blocks;

/** Elements of a piece with padding: an even share for each data rank where it is cut. Where gradients are cut, what is
 * summed over tensor is padded by itself, so that it is a slice of the shard too.
 */
export function paddedSizes({ summed, rest }: Sizes, layout: Pick<Layout, 'sharding' | 'data' | 'replicate'>): Sizes {
  const ways = layout.sharding > 0 ? layout.data / layout.replicate : 1;
  const pad = (count: number): number => Math.ceil(count / ways) * ways;
  if (layout.sharding >= 2 && summed > 0 && rest > 0) return { summed: pad(summed), rest: pad(rest) };
  return { summed, rest: pad(summed + rest) - summed };
}
