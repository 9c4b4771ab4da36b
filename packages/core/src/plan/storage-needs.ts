/** @file What a job asks of storage: the tokens that loaders must deliver, and the bytes of a checkpoint. */
import { frozenPerParameter, statePerParameter } from '../compile/index.ts';
import { batchTokens, type Job } from '../job/index.ts';
import type { Layout } from '../layout/index.ts';
import { countParameters } from '../model/index.ts';

/** Bytes of a token id as loaders hand it over. */
const TOKEN_BYTES = 4;

export interface StorageNeeds {
  readonly input: {
    /** Tokens per second of the whole job, and bytes of their ids (4 bytes each). */
    readonly tokensPerSecond: number;
    /** What the loaders of the busiest node must deliver: each data rank whose first or last stage is on it reads its share
     * once, whatever its tensor ranks are. */
    readonly bytesPerSecondPerNode: number;
    readonly dataRanksPerNode: number;
  };
  readonly checkpoint: {
    /** Weights and optimizer of all parameters, once; gradients are not kept. Frozen weights are in it. */
    readonly bytes: number;
    /** Of a parameter that is trained: 2 + 12 for Adam in mixed precision. */
    readonly bytesPerParameter: number;
    /** Of {@link bytes}, weights that are not trained and are the same in each checkpoint; 0 without adapters. */
    readonly frozenBytes: number;
    /** At the given rate of the storage; absent without one. */
    readonly writeSeconds?: number;
    /** Rate at which a checkpoint is written within one step. */
    readonly bytesPerSecondForOneStep: number;
  };
}

/** Needs of a layout whose step takes `seconds`; `storageBytesPerSecond` is what all nodes together reach. */
export function storageNeeds(
  job: Job,
  layout: Layout,
  seconds: number,
  storageBytesPerSecond: number | undefined,
): StorageNeeds {
  const tokens = batchTokens(job.batch);
  const perNode = Math.min(
    layout.data,
    Math.max(1, Math.ceil(job.cluster.gpusPerNode / (layout.tensor * layout.context))),
  );
  const alone: Layout = { ...layout, sharding: 0, data: 1, replicate: 1, offload: 'none' };
  const { weights, optimizer } = statePerParameter(job, alone);
  const bytesPerParameter = weights + optimizer;
  const { total, trainable } = countParameters(job.model);
  const frozenBytes = (total - trainable) * frozenPerParameter(job, alone);
  const bytes = trainable * bytesPerParameter + frozenBytes;
  return {
    input: {
      tokensPerSecond: tokens / seconds,
      dataRanksPerNode: perNode,
      bytesPerSecondPerNode: ((tokens / layout.data) * perNode * TOKEN_BYTES) / seconds,
    },
    checkpoint: {
      bytes,
      bytesPerParameter,
      frozenBytes,
      ...(storageBytesPerSecond !== undefined && { writeSeconds: bytes / storageBytesPerSecond }),
      bytesPerSecondForOneStep: bytes / seconds,
    },
  };
}
