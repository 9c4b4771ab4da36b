/** @file What architectures have by nature, as data: facts that no configuration states, and defaults that the
 * configuration classes of transformers document [hf-configs]. A shape's own keys stand above these.
 */
import type { ModelShape } from './shape.ts';
import type { ModelKind } from './types.ts';

/** Facts of a kind; the first two are always known. */
export interface KindFacts extends Partial<Omit<ModelShape, 'kind' | 'positions' | 'epsilon'>> {
  readonly positions: number;
  readonly epsilon: number;
}

const rms: KindFacts = { positions: 2048, epsilon: 1e-6 };
const layerNorms: KindFacts = { positions: 2048, epsilon: 1e-5, norm: 'layernorm' };
/** A GPT block: layer norms, biases everywhere, a plain feed-forward of four widths. */
const gpt: KindFacts = {
  ...layerNorms,
  gated: false,
  qkvBias: true,
  outBias: true,
  mlpBias: true,
  activation: 'gelu-tanh',
  ffnFactor: 4,
};
const gemma: KindFacts = { ...rms, positions: 8192, activation: 'gelu-tanh', embeddingRoot: true, tied: true };
const gemma3: KindFacts = { ...gemma, positions: 131_072, placement: 'both', queryKeyNorm: 'head' };
const qwen3: KindFacts = { ...rms, positions: 32_768, queryKeyNorm: 'head' };

/** Every kind with its facts. */
export const kinds: Readonly<Record<ModelKind, KindFacts>> = {
  gpt2: { ...gpt, positions: 1024, positionKind: 'learned', tied: true },
  llama: rms,
  mixtral: { positions: 131_072, epsilon: 1e-5, experts: 8, topK: 2 },
  baichuan: rms,
  bloom: { ...gpt, positionKind: 'alibi', embeddingNorm: true, tied: true },
  chatglm: { ...rms, epsilon: 1e-5, qkvBias: true, rotaryFraction: 0.5 },
  cohere: { ...layerNorms, positions: 8192, normBias: false, placement: 'parallel-shared', tied: true },
  deepseek: { ...rms, denseFirst: 0 },
  falcon: { ...gpt, qkvBias: false, outBias: false, mlpBias: false, activation: 'gelu', tied: true },
  'falcon-two-norms': {
    ...gpt,
    qkvBias: false,
    outBias: false,
    mlpBias: false,
    activation: 'gelu',
    placement: 'parallel',
    tied: true,
  },
  gemma,
  gemma2: { ...gemma, placement: 'both' },
  gemma3,
  'gemma3-vision': gemma3,
  'glm4-moe': { ...rms, positions: 131_072, selectionBias: true, scoring: 'sigmoid', groupTop: 2 },
  'gpt-bigcode': { ...gpt, positions: 1024, positionKind: 'learned', tied: true, kvHeads: 1 },
  'gpt-j': { ...gpt, qkvBias: false, outBias: false, placement: 'parallel-shared', headBias: true },
  'gpt-neox': { ...gpt, activation: 'gelu', placement: 'parallel', rotaryFraction: 0.25 },
  'gpt-oss': {
    ...rms,
    epsilon: 1e-5,
    qkvBias: true,
    outBias: true,
    mlpBias: true,
    routerBias: true,
    sinks: true,
    activation: 'clamped-silu',
  },
  'granite-moe': { ...rms, tied: true },
  internlm2: rms,
  llama4: {
    ...rms,
    epsilon: 1e-5,
    sharedExperts: 1,
    scoring: 'sigmoid',
    weighs: 'input',
    chunked: true,
    fullEvery: 4,
    positionsInWindows: true,
  },
  mimo: { ...rms, qkvBias: true },
  minicpm: rms,
  'minimax-m2': { ...rms, queryKeyNorm: 'projection', selectionBias: true, scoring: 'sigmoid', normalized: true },
  mistral3: { ...rms, epsilon: 1e-5 },
  olmo2: { ...rms, placement: 'post', queryKeyNorm: 'projection' },
  phi: { ...gpt, placement: 'parallel-shared', rotaryFraction: 0.5, headBias: true },
  phi3: { ...rms, epsilon: 1e-5 },
  qwen: { ...rms, qkvBias: true },
  'qwen2-moe': { ...rms, qkvBias: true, sharedGate: true },
  qwen3,
  'qwen3-vl': qwen3,
  stablelm: layerNorms,
  starcoder2: { ...gpt, tied: true },
};
