/** @file Presets of smaller models in the Llama manner, and of Qwen without experts. */
import { aic, from, type ModelPreset, mirror, mlc } from './types.ts';

export type LlamaLikePreset =
  | 'tinyllama-1.1b'
  | 'smollm-135m'
  | 'smollm-1.7b'
  | 'codellama-34b'
  | 'yi-1.5-6b'
  | 'qwen2-1.5b'
  | 'qwen2-7b'
  | 'qwen2.5-3b'
  | 'qwen3-0.6b'
  | 'qwen3-1.7b'
  | 'qwen3-8b'
  | 'qwen3-32b';

export const llamaLikePresets: Readonly<Record<LlamaLikePreset, ModelPreset>> = {
  'tinyllama-1.1b': from(mlc('tinyllama-1b-chat-v1.0'), {
    kind: 'llama',
    layers: 22,
    hidden: 2048,
    heads: 32,
    kvHeads: 4,
    ffn: 5632,
    vocab: 32_000,
    epsilon: 1e-5,
  }),
  'smollm-135m': from(mlc('smollm-135m'), {
    kind: 'llama',
    layers: 30,
    hidden: 576,
    heads: 9,
    kvHeads: 3,
    ffn: 1536,
    vocab: 49_152,
    tied: true,
    epsilon: 1e-5,
  }),
  'smollm-1.7b': from(mlc('smollm-1-7b'), {
    kind: 'llama',
    layers: 24,
    hidden: 2048,
    heads: 32,
    ffn: 8192,
    vocab: 49_152,
    tied: true,
    epsilon: 1e-5,
  }),
  'codellama-34b': from(mlc('codellama-34b'), {
    kind: 'llama',
    layers: 48,
    hidden: 8192,
    heads: 64,
    kvHeads: 8,
    ffn: 22_016,
    vocab: 32_016,
    positions: 16_384,
    theta: 1_000_000,
    epsilon: 1e-5,
  }),
  'yi-1.5-6b': from(mirror('yi-1.5-6b-merge'), {
    kind: 'llama',
    layers: 32,
    hidden: 4096,
    heads: 32,
    kvHeads: 4,
    ffn: 11_008,
    vocab: 64_000,
    positions: 4096,
    theta: 5_000_000,
  }),
  'qwen2-1.5b': from(mlc('qwen2-1-5b'), {
    kind: 'llama',
    layers: 28,
    hidden: 1536,
    heads: 12,
    kvHeads: 2,
    ffn: 8960,
    vocab: 151_936,
    positions: 32_768,
    tied: true,
    qkvBias: true,
    theta: 1_000_000,
  }),
  'qwen2-7b': from(mlc('qwen2-7b'), {
    kind: 'llama',
    layers: 28,
    hidden: 3584,
    heads: 28,
    kvHeads: 4,
    ffn: 18_944,
    vocab: 152_064,
    positions: 32_768,
    qkvBias: true,
    theta: 1_000_000,
  }),
  'qwen2.5-3b': from(mlc('qwen2.5-3b'), {
    kind: 'llama',
    layers: 36,
    hidden: 2048,
    heads: 16,
    kvHeads: 2,
    ffn: 11_008,
    vocab: 151_936,
    positions: 32_768,
    tied: true,
    qkvBias: true,
    theta: 1_000_000,
  }),
  'qwen3-0.6b': from(aic('Qwen_Qwen3-0.6B'), {
    kind: 'qwen3',
    layers: 28,
    hidden: 1024,
    heads: 16,
    kvHeads: 8,
    headSize: 128,
    ffn: 3072,
    vocab: 151_936,
    positions: 40_960,
    tied: true,
    theta: 1_000_000,
  }),
  'qwen3-1.7b': from(aic('Qwen_Qwen3-1.7B'), {
    kind: 'qwen3',
    layers: 28,
    hidden: 2048,
    heads: 16,
    kvHeads: 8,
    ffn: 6144,
    vocab: 151_936,
    positions: 40_960,
    tied: true,
    theta: 1_000_000,
  }),
  'qwen3-8b': from(aic('Qwen_Qwen3-8B'), {
    kind: 'qwen3',
    layers: 36,
    hidden: 4096,
    heads: 32,
    kvHeads: 8,
    ffn: 12_288,
    vocab: 151_936,
    positions: 40_960,
    theta: 1_000_000,
  }),
  'qwen3-32b': from(aic('Qwen_Qwen3-32B'), {
    kind: 'qwen3',
    layers: 64,
    hidden: 5120,
    heads: 64,
    kvHeads: 8,
    headSize: 128,
    ffn: 25_600,
    vocab: 151_936,
    positions: 40_960,
    theta: 1_000_000,
  }),
};
