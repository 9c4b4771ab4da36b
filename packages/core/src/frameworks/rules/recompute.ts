/** @file Layers that recompute otherwise than others: which rows of them a framework can be asked for. */
import { type FrameworkRule, megatrons, rule } from './rule.ts';
import type { FrameworkSetup } from './setup.ts';

type Chunks = NonNullable<FrameworkSetup['recomputeOfChunks']>;

/** Layers at the start of a chunk that are run again in whole; undefined where others are too, or some are selective. */
function leadingOf(chunk: Chunks[number]): number | undefined {
  const end = chunk.findIndex((kind) => kind !== 'full');
  const count = end < 0 ? chunk.length : end;
  return chunk.slice(count).every((kind) => kind === 'none') ? count : undefined;
}

/** The first so many layers of every chunk, or all of a chunk that has no more. */
function isOneLeadingCount(chunks: Chunks): boolean {
  const counts = chunks.map(leadingOf);
  const most = Math.max(...counts.map((count) => count ?? 0));
  return counts.every((count, at) => count !== undefined && count === Math.min(most, chunks[at]?.length ?? 0));
}

/** Every so-manyth layer of a rank, counted through its chunks. */
function isOneFrequency(chunks: Chunks, pipeline: number): boolean {
  const ranks = Array.from({ length: pipeline }, (_, rank) =>
    chunks.filter((_chunk, position) => position % pipeline === rank).flat(),
  );
  const [first] = ranks;
  const every = (first?.indexOf('full') ?? -1) + 1;
  if (every === 0) return false;
  return ranks.every((layers) => layers.every((kind, index) => kind === ((index + 1) % every === 0 ? 'full' : 'none')));
}

/** Rules of recomputation that differs by layer. */
export const recomputeRules: readonly FrameworkRule[] = [
  rule(
    'RECOMPUTED_LAYERS_NOT_FIRST',
    megatrons,
    'NeMo documentation, Activation Recomputation: recompute_method block, recompute_num_layers of each (virtual) stage',
    ['recomputeOfChunks'],
    ({ recomputeOfChunks }) =>
      isOneLeadingCount(recomputeOfChunks)
        ? undefined
        : {
            key: 'recomputeOfChunks',
            message: 'layers are recomputed that are not the same number of first layers of every chunk.',
            hint: 'Recompute the first N layers of every chunk in whole and none of the others.',
            values: {},
          },
  ),
  rule(
    'RECOMPUTED_LAYERS_NOT_EVERY_NTH',
    ['torchtitan'],
    'torchtitan, activation_checkpoint.selective_ac_option: a number recomputes every so-manyth layer of a rank',
    ['recomputeOfChunks', 'pipeline'],
    ({ recomputeOfChunks, pipeline }) =>
      isOneFrequency(recomputeOfChunks, pipeline)
        ? undefined
        : {
            key: 'recomputeOfChunks',
            message: 'layers are recomputed that are not every second, third or so-manyth layer of each rank.',
            hint: 'Recompute every N-th layer of each rank in whole and none of the others.',
            values: {},
          },
  ),
  rule(
    'RECOMPUTED_LAYERS_NOT_OFFERED',
    ['deepspeed', 'fsdp', 'nanotron'],
    'DeepSpeed, Accelerate and nanotron recompute all layers or none',
    ['recomputeOfChunks'],
    ({ recomputeOfChunks }) =>
      new Set(recomputeOfChunks.flat()).size < 2
        ? undefined
        : {
            key: 'recomputeOfChunks',
            message: 'some layers recompute otherwise than the others.',
            hint: 'Use recompute for all layers.',
            values: {},
          },
  ),
];
