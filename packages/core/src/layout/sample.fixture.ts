import { createCluster } from '../cluster/index.ts';
import type { LayerSpec, ModelSpec } from '../model/index.ts';
import type { LayoutJob } from './job.ts';

/** Sizes of a made-up model; what is absent divides by most powers of two. */
export interface SampleSizes {
  readonly layers?: number;
  readonly heads?: number;
  readonly kvHeads?: number;
  readonly hidden?: number;
  readonly ffn?: number;
  readonly vocabulary?: number;
  readonly sequences?: number;
  readonly length?: number;
  readonly nodes?: number;
  readonly attention?: 'flash' | 'unfused';
  /** One norm over the queries of all heads. */
  readonly normsAllHeads?: boolean;
  /** Experts of every layer, two for a token, each of the width of the feed-forward. */
  readonly experts?: number;
  readonly precision?: 'fp32' | 'bf16' | 'fp16';
  /** Modules with adapters beside them. */
  readonly adapters?: readonly string[];
}

/** A Llama-like job on `nodes` DGX H100 nodes. */
export function sampleJob(sizes: SampleSizes = {}): LayoutJob {
  const { layers = 32, heads = 32, kvHeads = heads, hidden = 4096, ffn = 16_384, vocabulary = 32_000 } = sizes;
  const layer: LayerSpec = {
    attention: {
      kind: 'grouped-query',
      heads,
      kvHeads,
      headSize: 128,
      qkvBias: false,
      outBias: false,
      rotary: undefined,
      ...(sizes.normsAllHeads && { queryKeyNorm: 'projection' as const }),
    },
    ffn:
      sizes.experts === undefined
        ? { kind: 'dense', width: ffn, gated: true, activation: 'silu', bias: false }
        : { kind: 'moe', experts: sizes.experts, topK: 2, width: ffn, gated: true, activation: 'silu' },
  };
  const model: ModelSpec = {
    name: 'sample',
    kind: 'llama',
    hidden,
    vocabulary,
    learnedPositions: undefined,
    maxLength: 8192,
    norm: 'rmsnorm',
    normEpsilon: 1e-5,
    tied: false,
    layers: new Array<LayerSpec>(layers).fill(layer),
    ...(sizes.adapters && { adapters: { rank: 8, alpha: 8, targets: sizes.adapters } }),
  };
  return {
    model,
    cluster: createCluster('dgx-h100', sizes.nodes ?? 1),
    batch: { sequences: sizes.sequences ?? 64, length: sizes.length ?? 4096 },
    precision: sizes.precision ?? 'bf16',
    kernels: { attention: sizes.attention ?? 'flash' },
    framework: 'meshwright',
  };
}
