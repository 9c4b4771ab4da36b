import { describe, expect, it } from 'vitest';
import { countParameters } from './counts.ts';
import { flopsPerToken } from './flops.ts';
import { modelFromPreset } from './presets/index.ts';
import type { ModelSpec } from './types.ts';

function preset(name: string): ModelSpec {
  const { model } = modelFromPreset(name, 'model');
  if (!model) throw new Error(`internal: no preset ${name}.`);
  return model;
}

/** Bytes that generation keeps of a token in bf16: keys and values, or the narrow vector and the rotary part of the key. */
const cacheBytes = (model: ModelSpec): number =>
  model.layers.reduce((sum, { attention }) => {
    const { kind, kvHeads, headSize } = attention;
    return sum + 2 * (kind === 'latent' ? attention.keyValueRank + attention.ropeSize : 2 * kvHeads * headSize);
  }, 0);

describe('what the makers of a model state of it', () => {
  it.each([
    ['deepseek-v3', 671, 37.6],
    ['kimi-k2', 1026, 32.9],
    ['qwen3-235b-a22b', 235, 22.2],
    ['qwen3-30b-a3b', 30.5, 3.35],
    ['mixtral-8x7b', 46.7, 12.9],
    ['llama-4-scout', 108, 17.2],
    ['gpt-oss-120b', 117, 5.7],
    ['deepseek-v2', 236, 21.4],
    ['llama-4-maverick', 401, 17.2],
    ['glm-4.5', 353, 33.6],
  ])('%s: %d B parameters, of which a token passes %d B', (name, total, active) => {
    const counts = countParameters(preset(name));
    expect(counts.total / 1e9 / total).toBeCloseTo(1, 2);
    expect(counts.active / 1e9 / active).toBeCloseTo(1, 2);
  });

  // [deepseek2025], tables 1 and 2: GFLOPs of training for a token at length 4,096, kB of cache for a token in bf16.
  it.each([
    ['deepseek-v3', 250, 70.272],
    ['llama-3.1-405b', 2448, 516.096],
  ])('%s: %d GFLOPs to train on a token, %d kB of cache', (name, gflops, kilobytes) => {
    const model = preset(name);
    expect(Math.abs(flopsPerToken(model, 4096) / 1e9 / gflops - 1)).toBeLessThan(0.011);
    expect(cacheBytes(model) / 1e3).toBe(kilobytes);
  });

  it('DeepSeek-V3: products of a token by hand', () => {
    const [h, heads, q, c] = [7168, 128, 1536, 512];
    const attention = h * q + q * heads * 192 + h * (c + 64) + c * heads * 256 + heads * 128 * h;
    const dense = 3 * h * 18_432;
    const moe = 9 * 3 * h * 2048 + h * 256;
    const products = 61 * attention + 3 * dense + 58 * moe + h * 129_280;
    const scores = 61 * heads * (192 + 128) * (4096 / 2);
    expect(flopsPerToken(preset('deepseek-v3'), 4096)).toBe(6 * (products + scores));
  });
});
