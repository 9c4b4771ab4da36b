/** @file What one rank writes of a checkpoint: a file for each state, its bytes on the disk before anybody hears of it. */
import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Elements } from '../kernels/tensor.ts';
import { bf16Of } from '../numbers/bf16.ts';
import { type ShardFile, type State, states } from './manifest.ts';
import type { Placed } from './placement.ts';
import { elementsOfRuns } from './runs.ts';
import type { NamedTensor, Stored } from './safetensors.ts';
import { safetensorsChunks } from './safetensors.ts';

/** What a rank owns of each bucket, by state. */
export type OwnedState = Readonly<Partial<Record<State, Readonly<Record<string, Elements>>>>>;

/** Writes what `placed` says of `owned` into `folder`, which is made when it is absent. A file that exists is an error. */
export function writeShards(
  folder: string,
  rank: number,
  placed: readonly Placed[],
  owned: OwnedState,
): readonly ShardFile[] {
  if (placed.length === 0) return [];
  mkdirSync(folder, { recursive: true });
  return states.flatMap((state): readonly ShardFile[] => {
    const buckets = owned[state];
    if (buckets === undefined || Object.keys(buckets).length === 0) return [];
    const kept = state === 'weights' ? placed : placed.filter(({ frozen }) => !frozen);
    if (kept.length === 0) return [];
    const tensors = kept.map((each): NamedTensor => {
      const values = picked(buckets[each.bucket], each);
      const data = each.narrow && values instanceof Float32Array ? bf16Of(values) : values;
      const whole = data.length === each.shape.reduce((product, size) => product * size, 1);
      return { name: each.tensor, shape: whole ? each.shape : [data.length], data };
    });
    const name = `rank-${String(rank).padStart(4, '0')}.${state}.safetensors`;
    const written = writeDurably(join(folder, name), safetensorsChunks(tensors));
    return [{ name, state, ...written, tensors: Object.fromEntries(kept.map(({ tensor, runs }) => [tensor, runs])) }];
  });
}

function picked(shard: Elements | undefined, { tensor, runs, at }: Placed): Stored {
  if (shard === undefined) throw new Error(`internal: the shard of ${tensor} is not there.`);
  const length = elementsOfRuns(runs);
  const values = shard instanceof Float64Array ? new Float64Array(length) : new Float32Array(length);
  for (let index = 0; index < length; index++) values[index] = shard[at[index]!]!;
  return values;
}

/** Writes a new file and waits until it is on the disk; says how long it is and its hash. */
export function writeDurably(
  path: string,
  chunks: readonly Uint8Array[],
): { readonly bytes: number; readonly sha256: string } {
  const hash = createHash('sha256');
  const file = openSync(path, 'wx');
  let bytes = 0;
  try {
    for (const chunk of chunks) {
      hash.update(chunk);
      for (let from = 0; from < chunk.length; ) from += writeSync(file, chunk, from);
      bytes += chunk.length;
    }
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return { bytes, sha256: hash.digest('hex') };
}
