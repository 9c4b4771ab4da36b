import { describe, expect, it } from 'vitest';
import { countParameters } from '../model/index.ts';
import { mixtureOf } from './mixture-of.ts';
import { runOf } from './run-row.ts';

const rowOf = (cells: Readonly<Record<string, string | number>>) =>
  runOf({ line: 2, cells: Object.fromEntries(Object.entries(cells).map(([key, value]) => [key, String(value)])) });
const modelOf = (cells: Readonly<Record<string, string | number>>) =>
  mixtureOf(rowOf(cells), (vocabulary) => vocabulary);

const deepseek = {
  preset: 'deepseek-v3',
  layers: 61,
  hidden: 7168,
  heads: 128,
  kv_heads: 128,
  experts: 256,
  seq: 4096,
};
const grok = {
  layers: 64,
  hidden: 6144,
  ffn_hidden: 32_768,
  ffn_act: 'geglu',
  heads: 48,
  kv_heads: 8,
  head_dim: 128,
  vocab: 131_072,
  seq: 8192,
  experts: 8,
  top_k: 2,
  expert_ffn: 32_768,
};

describe('the mixture of a run', () => {
  it('that names a public model has its parameters', () => {
    const { model, assumed } = modelOf(deepseek).value ?? { model: undefined, assumed: [] };
    // 671 B of the paper, without the module that predicts further tokens.
    expect(model && countParameters(model).total / 1e9).toBeCloseTo(671.03, 1);
    expect(assumed).toEqual([
      'experts: tokens spread evenly, none dropped',
      'modules that predict further tokens: left out',
    ]);
  });
  it('that has fewer layers than the public model keeps the leading dense ones', () => {
    const { model } = modelOf({ ...deepseek, layers: 5, dense_layers: 3 }).value ?? {};
    expect(model?.layers.map(({ ffn }) => ffn.kind)).toEqual(['dense', 'dense', 'dense', 'moe', 'moe']);
  });
  it('that contradicts the model that it names is refused with both values', () => {
    const { skipped } = modelOf({ ...deepseek, top_k: 6, shared_ffn: 4096 });
    expect(skipped).toEqual({
      reason: 'dimensions-illegal',
      detail: 'top_k 6, in deepseek-v3 8; shared_ffn 4096, in deepseek-v3 2048',
    });
  });
  it('that gives its dimensions has the parameters of those', () => {
    const { model } = modelOf(grok).value ?? {};
    const attention = 6144 * 128 * (48 + 8 + 8) + 48 * 128 * 6144;
    const layer = attention + 8 * 3 * 6144 * 32_768 + 8 * 6144 + 2 * 6144;
    expect(model && countParameters(model).total).toBe(64 * layer + 2 * 131_072 * 6144 + 6144);
    expect(model?.layers[0]?.ffn).toMatchObject({ kind: 'moe', topK: 2, width: 32_768, activation: 'gelu' });
  });
  it('may have shared experts and leading dense layers', () => {
    const { model } = modelOf({ ...grok, layers: 2, dense_layers: 1, shared_ffn: 1024, expert_ffn: 512 }).value ?? {};
    expect(model?.layers[0]?.ffn).toMatchObject({ kind: 'dense', width: 32_768 });
    expect(model?.layers[1]?.ffn).toMatchObject({ kind: 'moe', width: 512, shared: { width: 1024 } });
  });
  it('pads the vocabulary as it is told', () => {
    const { model } = mixtureOf(rowOf({ ...grok, vocab: 131_000 }), (vocabulary) => vocabulary + 72).value ?? {};
    expect(model).toEqual(modelOf(grok).value?.model);
  });
  it.each(['top_k', 'expert_ffn', 'vocab', 'layers'])('without %s is not guessed', (column) => {
    expect(modelOf({ ...grok, [column]: '' }).skipped).toEqual({ reason: 'dimensions-missing', detail: column });
  });
});
