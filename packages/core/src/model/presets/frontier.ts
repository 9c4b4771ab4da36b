/** @file Presets of models that people train, from memory or from copies in other projects: each is held against the exact
 * count of parameters that its files state (presets.test.ts).
 */
import { copied, from, type ModelPreset } from './types.ts';

export type FrontierPreset =
  | 'llama-3-70b'
  | 'llama-3.3-70b'
  | 'llama-4-maverick'
  | 'mistral-nemo-12b'
  | 'mistral-small-24b'
  | 'qwen2.5-0.5b'
  | 'qwen2.5-1.5b'
  | 'qwen2.5-7b'
  | 'qwen2.5-14b'
  | 'qwen2.5-32b'
  | 'qwen2.5-72b'
  | 'qwen3-4b'
  | 'qwen3-14b'
  | 'gemma-2-27b'
  | 'gemma-3-4b'
  | 'gemma-3-12b'
  | 'gemma-3-27b'
  | 'phi-4'
  | 'deepseek-v2'
  | 'glm-4.5';

const llama70b = {
  kind: 'llama',
  layers: 80,
  hidden: 8192,
  heads: 64,
  kvHeads: 8,
  ffn: 28_672,
  vocab: 128_256,
  theta: 500_000,
} as const;

const qwen25 = { kind: 'llama', positions: 32_768, qkvBias: true, theta: 1_000_000 } as const;
const qwen3 = { kind: 'qwen3', vocab: 151_936, positions: 40_960, theta: 1_000_000 } as const;
const gemma3 = {
  kind: 'gemma3',
  vocab: 262_208,
  positions: 131_072,
  theta: 1_000_000,
  slidingWindow: 1024,
  fullEvery: 6,
} as const;

export const frontierPresets: Readonly<Record<FrontierPreset, ModelPreset>> = {
  'llama-3-70b': from(copied('Meta-Llama-3-70B'), { ...llama70b, positions: 8192 }),
  'llama-3.3-70b': from(copied('Llama-3.3-70B-Instruct'), { ...llama70b, positions: 131_072 }),
  'llama-4-maverick': from(copied('Llama-4-Maverick-17B-128E in tests of TensorRT-LLM'), {
    kind: 'llama4',
    layers: 48,
    hidden: 5120,
    heads: 40,
    kvHeads: 8,
    ffn: 16_384,
    vocab: 202_048,
    positions: 1_048_576,
    theta: 500_000,
    expertFfn: 8192,
    experts: 128,
    topK: 1,
    moeEvery: 2,
    slidingWindow: 8192,
  }),
  'mistral-nemo-12b': from(copied('Mistral-Nemo-Base-2407'), {
    kind: 'llama',
    layers: 40,
    hidden: 5120,
    heads: 32,
    kvHeads: 8,
    headSize: 128,
    ffn: 14_336,
    vocab: 131_072,
    positions: 131_072,
    theta: 1_000_000,
  }),
  'mistral-small-24b': from(copied('Mistral-Small-24B-Base-2501'), {
    kind: 'llama',
    layers: 40,
    hidden: 5120,
    heads: 32,
    kvHeads: 8,
    headSize: 128,
    ffn: 32_768,
    vocab: 131_072,
    positions: 32_768,
    theta: 100_000_000,
  }),
  'qwen2.5-0.5b': from(copied('Qwen2.5-0.5B'), {
    ...qwen25,
    layers: 24,
    hidden: 896,
    heads: 14,
    kvHeads: 2,
    ffn: 4864,
    vocab: 151_936,
    tied: true,
  }),
  'qwen2.5-1.5b': from(copied('Qwen2.5-1.5B'), {
    ...qwen25,
    layers: 28,
    hidden: 1536,
    heads: 12,
    kvHeads: 2,
    ffn: 8960,
    vocab: 151_936,
    tied: true,
  }),
  'qwen2.5-7b': from(copied('Qwen2.5-7B'), {
    ...qwen25,
    layers: 28,
    hidden: 3584,
    heads: 28,
    kvHeads: 4,
    ffn: 18_944,
    vocab: 152_064,
  }),
  'qwen2.5-14b': from(copied('Qwen2.5-14B'), {
    ...qwen25,
    layers: 48,
    hidden: 5120,
    heads: 40,
    kvHeads: 8,
    ffn: 13_824,
    vocab: 152_064,
  }),
  'qwen2.5-32b': from(copied('Qwen2.5-32B'), {
    ...qwen25,
    layers: 64,
    hidden: 5120,
    heads: 40,
    kvHeads: 8,
    ffn: 27_648,
    vocab: 152_064,
  }),
  'qwen2.5-72b': from(copied('Qwen2.5-72B'), {
    ...qwen25,
    layers: 80,
    hidden: 8192,
    heads: 64,
    kvHeads: 8,
    ffn: 29_568,
    vocab: 152_064,
  }),
  'qwen3-4b': from(copied('Qwen3-4B'), {
    ...qwen3,
    layers: 36,
    hidden: 2560,
    heads: 32,
    kvHeads: 8,
    headSize: 128,
    ffn: 9728,
    tied: true,
  }),
  'qwen3-14b': from(copied('Qwen3-14B'), {
    ...qwen3,
    layers: 40,
    hidden: 5120,
    heads: 40,
    kvHeads: 8,
    headSize: 128,
    ffn: 17_408,
  }),
  'gemma-2-27b': from(copied('gemma-2-27b'), {
    kind: 'gemma2',
    layers: 46,
    hidden: 4608,
    heads: 32,
    kvHeads: 16,
    headSize: 128,
    ffn: 36_864,
    vocab: 256_000,
    slidingWindow: 4096,
    fullEvery: 2,
    scoreCap: 50,
    logitCap: 30,
  }),
  'gemma-3-4b': from(copied('gemma-3-4b, text'), {
    ...gemma3,
    layers: 34,
    hidden: 2560,
    heads: 8,
    kvHeads: 4,
    headSize: 256,
    ffn: 10_240,
  }),
  'gemma-3-12b': from(copied('gemma-3-12b, text'), {
    ...gemma3,
    layers: 48,
    hidden: 3840,
    heads: 16,
    kvHeads: 8,
    headSize: 256,
    ffn: 15_360,
  }),
  'gemma-3-27b': from(copied('gemma-3-27b, text'), {
    ...gemma3,
    layers: 62,
    hidden: 5376,
    heads: 32,
    kvHeads: 16,
    headSize: 128,
    ffn: 21_504,
  }),
  'phi-4': from(copied('phi-4'), {
    kind: 'phi3',
    layers: 40,
    hidden: 5120,
    heads: 40,
    kvHeads: 10,
    ffn: 17_920,
    vocab: 100_352,
    positions: 16_384,
    theta: 250_000,
  }),
  'deepseek-v2': from(copied('DeepSeek-V2'), {
    kind: 'deepseek',
    layers: 60,
    hidden: 5120,
    heads: 128,
    ffn: 12_288,
    vocab: 102_400,
    positions: 163_840,
    experts: 160,
    topK: 6,
    expertFfn: 1536,
    sharedExperts: 2,
    denseFirst: 1,
    queryRank: 1536,
    keyValueRank: 512,
    nopeSize: 128,
    ropeSize: 64,
    valueSize: 128,
    scoring: 'softmax-all',
    weightFactor: 16,
    expertGroups: 8,
    chosenGroups: 3,
  }),
  'glm-4.5': from(copied('GLM-4.5'), {
    kind: 'glm4-moe',
    layers: 92,
    hidden: 5120,
    heads: 96,
    kvHeads: 8,
    headSize: 128,
    ffn: 12_288,
    vocab: 151_552,
    theta: 1_000_000,
    epsilon: 1e-5,
    experts: 160,
    topK: 8,
    expertFfn: 1536,
    sharedExperts: 1,
    denseFirst: 3,
    qkvBias: true,
    queryKeyNorm: 'head',
    normalized: true,
    weightFactor: 2.5,
    rotaryFraction: 0.5,
    mtp: 1,
  }),
};
