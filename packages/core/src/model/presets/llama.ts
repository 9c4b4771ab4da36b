/** @file Presets of Llama, Mistral, Mixtral and GPT. */
import { aic, from, type ModelPreset, mlc } from './types.ts';

const RADFORD = 'Radford et al. 2019, table 2, and GPT2Config [radford2019]';

const llama2 = { kind: 'llama', vocab: 32_000, positions: 4096, epsilon: 1e-5 } as const;
const llama3 = { kind: 'llama', vocab: 128_256, theta: 500_000, epsilon: 1e-5 } as const;
const gpt2 = { kind: 'gpt2', vocab: 50_257, positions: 1024 } as const;
const mixtral = { kind: 'mixtral', vocab: 32_000, experts: 8, topK: 2, theta: 1_000_000, epsilon: 1e-5 } as const;

export type LlamaPreset =
  | 'llama-2-7b'
  | 'llama-2-13b'
  | 'llama-2-70b'
  | 'llama-3-8b'
  | 'llama-3.1-8b'
  | 'llama-3.1-70b'
  | 'llama-3.1-405b'
  | 'llama-3.2-1b'
  | 'llama-3.2-3b'
  | 'mistral-7b'
  | 'mixtral-8x7b'
  | 'mixtral-8x22b'
  | 'gpt2'
  | 'gpt2-medium'
  | 'gpt2-large'
  | 'gpt2-xl'
  | 'gpt3-175b'
  | 'gpt-1t-narayanan';

export const llamaPresets: Readonly<Record<LlamaPreset, ModelPreset>> = {
  'llama-2-7b': from(mlc('llama2_7b'), { ...llama2, layers: 32, hidden: 4096, heads: 32, ffn: 11_008 }),
  'llama-2-13b': from(mlc('llama2_13b'), { ...llama2, layers: 40, hidden: 5120, heads: 40, ffn: 13_824 }),
  'llama-2-70b': from(mlc('llama2_70b'), { ...llama2, layers: 80, hidden: 8192, heads: 64, kvHeads: 8, ffn: 28_672 }),
  'llama-3-8b': from(`${mlc('llama3_1_8b')}; 8,192 positions [llama3-2024]`, {
    ...llama3,
    layers: 32,
    hidden: 4096,
    heads: 32,
    kvHeads: 8,
    ffn: 14_336,
    positions: 8192,
  }),
  'llama-3.1-8b': from(aic('meta-llama--Meta-Llama-3.1-8B'), {
    ...llama3,
    layers: 32,
    hidden: 4096,
    heads: 32,
    kvHeads: 8,
    ffn: 14_336,
    positions: 131_072,
  }),
  'llama-3.1-70b': from(aic('meta-llama--Meta-Llama-3.1-70B'), {
    ...llama3,
    layers: 80,
    hidden: 8192,
    heads: 64,
    kvHeads: 8,
    ffn: 28_672,
    positions: 131_072,
  }),
  'llama-3.1-405b': from(aic('meta-llama--Meta-Llama-3.1-405B'), {
    ...llama3,
    layers: 126,
    hidden: 16_384,
    heads: 128,
    kvHeads: 8,
    ffn: 53_248,
    positions: 131_072,
  }),
  'llama-3.2-1b': from(mlc('llama3_2_1b'), {
    ...llama3,
    layers: 16,
    hidden: 2048,
    heads: 32,
    kvHeads: 8,
    headSize: 64,
    ffn: 8192,
    positions: 131_072,
    tied: true,
  }),
  'llama-3.2-3b': from(mlc('llama3_2_3b'), {
    ...llama3,
    layers: 28,
    hidden: 3072,
    heads: 24,
    kvHeads: 8,
    headSize: 128,
    ffn: 8192,
    positions: 131_072,
    tied: true,
  }),
  'mistral-7b': from(mlc('mistral_7b'), {
    kind: 'llama',
    layers: 32,
    hidden: 4096,
    heads: 32,
    kvHeads: 8,
    ffn: 14_336,
    vocab: 32_000,
    positions: 32_768,
    theta: 10_000,
    epsilon: 1e-5,
    slidingWindow: 4096,
  }),
  'mixtral-8x7b': from(aic('mistralai--Mixtral-8x7B-v0.1'), {
    ...mixtral,
    layers: 32,
    hidden: 4096,
    heads: 32,
    kvHeads: 8,
    ffn: 14_336,
    positions: 32_768,
  }),
  'mixtral-8x22b': from(aic('mistralai--Mixtral-8x22B-v0.1'), {
    ...mixtral,
    layers: 56,
    hidden: 6144,
    heads: 48,
    kvHeads: 8,
    ffn: 16_384,
    positions: 65_536,
  }),
  gpt2: from(mlc('gpt2'), { ...gpt2, layers: 12, hidden: 768, heads: 12 }),
  'gpt2-medium': from(mlc('gpt2_medium'), { ...gpt2, layers: 24, hidden: 1024, heads: 16 }),
  'gpt2-large': from(RADFORD, { ...gpt2, layers: 36, hidden: 1280, heads: 20 }),
  'gpt2-xl': from(RADFORD, { ...gpt2, layers: 48, hidden: 1600, heads: 25 }),
  'gpt3-175b': from('Brown et al. 2020, table 2.1 [brown2020]; the vocabulary is that of GPT-2', {
    kind: 'gpt2',
    layers: 96,
    hidden: 12_288,
    heads: 96,
    vocab: 50_257,
    positions: 2048,
  }),
  'gpt-1t-narayanan': from('Narayanan et al. 2021, table 1, last row [narayanan2021]', {
    kind: 'gpt2',
    layers: 128,
    hidden: 25_600,
    heads: 160,
    vocab: 51_200,
    positions: 2048,
    tied: true,
  }),
};
