/** @file Presets of other dense models: Gemma, Phi, GPT-J, GPT-NeoX, Falcon, BLOOM, OLMo and more. */
import { aic, from, type ModelPreset, mirror, mlc, poor } from './types.ts';

export type DensePreset =
  | 'gemma-2b'
  | 'gemma-2-2b'
  | 'gemma-2-9b'
  | 'gemma-3-1b'
  | 'phi-1.5'
  | 'phi-3.5-mini'
  | 'phi-4-mini'
  | 'gpt-j-6b'
  | 'gpt-neox-20b'
  | 'pythia-160m'
  | 'pythia-6.9b'
  | 'falcon-7b'
  | 'bloom-176b'
  | 'olmo-2-7b'
  | 'olmo-2-13b'
  | 'internlm2-7b'
  | 'mimo-7b'
  | 'aya-23-8b';

export const densePresets: Readonly<Record<DensePreset, ModelPreset>> = {
  'gemma-2b': from(mirror('google_gemma-2b'), {
    kind: 'gemma',
    layers: 18,
    hidden: 2048,
    heads: 8,
    kvHeads: 1,
    ffn: 16_384,
    vocab: 256_000,
  }),
  'gemma-2-2b': from(mlc('gemma2_2b'), {
    kind: 'gemma2',
    layers: 26,
    hidden: 2304,
    heads: 8,
    kvHeads: 4,
    headSize: 256,
    ffn: 9216,
    vocab: 256_000,
    slidingWindow: 4096,
    fullEvery: 2,
    scoreCap: 50,
    logitCap: 30,
  }),
  'gemma-2-9b': from(mlc('gemma2_9b'), {
    kind: 'gemma2',
    layers: 42,
    hidden: 3584,
    heads: 16,
    kvHeads: 8,
    headSize: 256,
    ffn: 14_336,
    vocab: 256_000,
    slidingWindow: 4096,
    fullEvery: 2,
    scoreCap: 50,
    logitCap: 30,
  }),
  'gemma-3-1b': from(mlc('gemma3_1b_it'), {
    kind: 'gemma3',
    layers: 26,
    hidden: 1152,
    heads: 4,
    kvHeads: 1,
    headSize: 256,
    ffn: 6912,
    vocab: 262_144,
    positions: 32_768,
    theta: 1_000_000,
    slidingWindow: 512,
    fullEvery: 6,
  }),
  'phi-1.5': from(mlc('phi-1_5'), { kind: 'phi', layers: 24, hidden: 2048, heads: 32, vocab: 51_200, rotarySize: 32 }),
  'phi-3.5-mini': from(mlc('phi-3_5'), {
    kind: 'phi3',
    layers: 32,
    hidden: 3072,
    heads: 32,
    ffn: 8192,
    vocab: 32_064,
    positions: 131_072,
    slidingWindow: 262_144,
  }),
  'phi-4-mini': from(mlc('phi-4-mini-dims'), {
    kind: 'phi3',
    layers: 32,
    hidden: 3072,
    heads: 24,
    kvHeads: 8,
    ffn: 8192,
    vocab: 200_064,
    positions: 131_072,
    tied: true,
    slidingWindow: 262_144,
    rotaryFraction: 0.75,
  }),
  'gpt-j-6b': from(mlc('gpt_j'), { kind: 'gpt-j', layers: 28, hidden: 4096, heads: 16, vocab: 50_400, rotarySize: 64 }),
  'gpt-neox-20b': from(poor('EleutherAI_gpt-neox-20b'), {
    kind: 'gpt-neox',
    layers: 44,
    hidden: 6144,
    heads: 64,
    ffn: 24_576,
    vocab: 50_432,
  }),
  'pythia-160m': from(poor('EleutherAI_pythia-160m'), {
    kind: 'gpt-neox',
    layers: 12,
    hidden: 768,
    heads: 12,
    ffn: 3072,
    vocab: 50_304,
  }),
  'pythia-6.9b': from(poor('EleutherAI_pythia-6.9b'), {
    kind: 'gpt-neox',
    layers: 32,
    hidden: 4096,
    heads: 32,
    ffn: 16_384,
    vocab: 50_432,
  }),
  'falcon-7b': from(poor('tiiuae_falcon-7b'), {
    kind: 'falcon',
    layers: 32,
    hidden: 4544,
    heads: 71,
    kvHeads: 1,
    vocab: 65_024,
    placement: 'parallel-shared',
  }),
  'bloom-176b': from(mirror('bigscience_bloom'), {
    kind: 'bloom',
    layers: 70,
    hidden: 14_336,
    heads: 112,
    vocab: 250_880,
  }),
  'olmo-2-7b': from(mlc('olmo2_7b'), {
    kind: 'olmo2',
    layers: 32,
    hidden: 4096,
    heads: 32,
    ffn: 11_008,
    vocab: 100_352,
    positions: 4096,
    theta: 500_000,
  }),
  'olmo-2-13b': from(mlc('olmo2_13b'), {
    kind: 'olmo2',
    layers: 40,
    hidden: 5120,
    heads: 40,
    ffn: 13_824,
    vocab: 100_352,
    positions: 4096,
    theta: 500_000,
  }),
  'internlm2-7b': from(mlc('internlm2'), {
    kind: 'internlm2',
    layers: 32,
    hidden: 4096,
    heads: 32,
    kvHeads: 8,
    ffn: 14_336,
    vocab: 92_544,
    positions: 32_768,
    theta: 1_000_000,
    epsilon: 1e-5,
  }),
  'mimo-7b': from(aic('XiaomiMiMo_MiMo-7B-Base'), {
    kind: 'mimo',
    layers: 36,
    hidden: 4096,
    heads: 32,
    kvHeads: 8,
    ffn: 11_008,
    vocab: 151_680,
    positions: 32_768,
    theta: 640_000,
    epsilon: 1e-5,
    mtp: 1,
  }),
  'aya-23-8b': from(mlc('aya-23'), {
    kind: 'cohere',
    layers: 32,
    hidden: 4096,
    heads: 32,
    kvHeads: 8,
    ffn: 14_336,
    vocab: 256_000,
    logitScale: 0.0625,
  }),
};
