import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkCompiles } from '../compiles.ts';
import { countParameters, elementsOf } from '../counts.ts';
import { hfTensors, hfTensorsOfMtp, parametersOf } from '../parameters/index.ts';
import { modelFromConfig } from '../read-config.ts';
import type { ModelSpec } from '../types.ts';

interface Case {
  readonly file: string;
  readonly parameters?: number;
  /** The count is stated elsewhere; otherwise it is ours, kept so that it does not move unseen. */
  readonly reference?: boolean;
  readonly mtp?: number;
  readonly refused?: string;
  readonly config: Readonly<Record<string, unknown>>;
}

const file = new URL('../../../../../test/fixtures/configs/families.json', import.meta.url);
const cases = JSON.parse(readFileSync(file, 'utf8')) as readonly Case[];
const read = cases.filter((each) => each.parameters !== undefined);
const product = (shape: readonly number[]): number => shape.reduce((all, size) => all * size, 1);
const sum = (tensors: readonly { shape: readonly number[] }[]): number =>
  tensors.reduce((all, { shape }) => all + product(shape), 0);

function modelOf({ file: name, config }: Case): ModelSpec {
  const { model, issues } = modelFromConfig(config, { name });
  if (!model) throw new Error(`${name}: ${issues.map(({ message }) => message).join(' ')}`);
  return model;
}
const named = (name: string): ModelSpec => {
  const found = cases.find((each) => each.file === name);
  if (!found) throw new Error(name);
  return modelOf(found);
};
const layerTensors = (model: ModelSpec, layer: number, experts = false): string =>
  hfTensors(model)
    .map(({ name }) => name)
    .filter((name) => name.includes(`.${layer}.`) && (experts || !/experts\.\d/.test(name)))
    .map((name) => name.split(`.${layer}.`)[1]?.replace('.weight', ''))
    .join(' ');

describe('configurations of every family', () => {
  it.each(read)('$file has $parameters parameters', (each) => {
    const counts = countParameters(modelOf(each));
    expect(counts.total).toBe(each.parameters);
    expect(counts.mtp).toBe(each.mtp ?? 0);
    expect(counts.active).toBeLessThanOrEqual(counts.total);
  });
  it.each(read)('the tensors of $file sum to its parameters, each under one name', (each) => {
    const model = modelOf(each);
    const tensors = hfTensors(model);
    expect(sum(tensors)).toBe(each.parameters);
    expect(sum(hfTensorsOfMtp(model))).toBe(each.mtp ?? 0);
    const names = [...tensors, ...hfTensorsOfMtp(model)].map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const one of parametersOf(model)) expect(elementsOf(one)).toBe(sum(one.tensors));
  });
  it.each(cases.filter((each) => each.refused !== undefined))('$file is refused by name', ({ refused, config }) => {
    const { model, issues } = modelFromConfig(config, { name: 'x' });
    expect(model).toBeUndefined();
    expect(issues.map(({ message }) => message)).toEqual([refused]);
  });
  it.each(read)('$file compiles or says what is missing', (each) => {
    const errors = checkCompiles(modelOf(each)).filter(({ severity }) => severity === 'error');
    for (const { message } of errors) expect(message).toMatch(/^step programs do not have .+ yet, and .+ does\.$/);
  });
});

describe('tensors by their Hugging Face names', () => {
  it.each([
    [
      'Qwen_Qwen3-0.6B',
      'input_layernorm self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.q_norm self_attn.k_norm self_attn.o_proj post_attention_layernorm mlp.gate_proj mlp.up_proj mlp.down_proj',
    ],
    [
      'mlc-gemma2_2b',
      'input_layernorm self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.o_proj post_attention_layernorm pre_feedforward_layernorm mlp.gate_proj mlp.up_proj mlp.down_proj post_feedforward_layernorm',
    ],
    [
      'mlc-olmo2_7b',
      'self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.q_norm self_attn.k_norm self_attn.o_proj post_attention_layernorm mlp.gate_proj mlp.up_proj mlp.down_proj post_feedforward_layernorm',
    ],
    [
      'deepseek-ai_DeepSeek-V3',
      'input_layernorm self_attn.q_a_proj self_attn.q_a_layernorm self_attn.q_b_proj self_attn.kv_a_proj_with_mqa self_attn.kv_a_layernorm self_attn.kv_b_proj self_attn.o_proj post_attention_layernorm mlp.gate mlp.gate.e_score_correction_bias mlp.shared_experts.gate_proj mlp.shared_experts.up_proj mlp.shared_experts.down_proj',
    ],
    [
      'openai_gpt-oss-20b',
      'input_layernorm self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.q_proj.bias self_attn.k_proj.bias self_attn.v_proj.bias self_attn.sinks self_attn.o_proj self_attn.o_proj.bias post_attention_layernorm mlp.router mlp.router.bias mlp.experts.gate_up_proj mlp.experts.gate_up_proj_bias mlp.experts.down_proj mlp.experts.down_proj_bias',
    ],
    ['Qwen-7B-Chat_derivative', 'ln_1 attn.c_attn attn.c_attn.bias attn.c_proj ln_2 mlp.w2 mlp.w1 mlp.c_proj'],
    [
      'mlc-gpt_j',
      'ln_1 ln_1.bias attn.q_proj attn.k_proj attn.v_proj attn.out_proj mlp.fc_in mlp.fc_in.bias mlp.fc_out mlp.fc_out.bias',
    ],
    [
      'mlc-phi-3_5',
      'input_layernorm self_attn.qkv_proj self_attn.o_proj post_attention_layernorm mlp.gate_up_proj mlp.down_proj',
    ],
    [
      'mlc-internlm2',
      'attention_norm attention.wqkv attention.wo ffn_norm feed_forward.w1 feed_forward.w3 feed_forward.w2',
    ],
    [
      'reduced-tiiuae_falcon-7b',
      'input_layernorm input_layernorm.bias self_attention.query_key_value self_attention.dense mlp.dense_h_to_4h mlp.dense_4h_to_h',
    ],
  ])('of a layer of %s', (name, expected) => {
    expect(layerTensors(named(name), 5)).toBe(expected);
  });
  it('of the ends of BLOOM, GPT-NeoX, Llama 4 and Qwen3-VL', () => {
    const ends = (name: string) => {
      const all = hfTensors(named(name)).map((each) => each.name);
      return all.filter((each) => !/\.(h|layers)\.\d/.test(each)).join(' ');
    };
    expect(ends('bigscience_bloom')).toBe(
      'transformer.word_embeddings.weight transformer.word_embeddings_layernorm.weight transformer.word_embeddings_layernorm.bias transformer.ln_f.weight transformer.ln_f.bias',
    );
    expect(ends('reduced-EleutherAI_pythia-160m')).toBe(
      'gpt_neox.embed_in.weight gpt_neox.final_layer_norm.weight gpt_neox.final_layer_norm.bias embed_out.weight',
    );
    expect(ends('meta-llama_Llama-4-Scout-17B-16E-Instruct')).toBe(
      'language_model.model.embed_tokens.weight language_model.model.norm.weight language_model.lm_head.weight',
    );
    expect(ends('Qwen_Qwen3-VL-8B-Instruct')).toBe(
      'model.language_model.embed_tokens.weight model.language_model.norm.weight lm_head.weight',
    );
  });
  it('of experts: one by one in Qwen3, all in one in GPT-OSS', () => {
    expect(layerTensors(named('Qwen_Qwen3-30B-A3B'), 0, true)).toContain('mlp.experts.127.gate_proj');
    const shapes = new Map(hfTensors(named('openai_gpt-oss-20b')).map(({ name, shape }) => [name, shape]));
    expect(shapes.get('model.layers.0.mlp.experts.gate_up_proj')).toEqual([32, 2880, 5760]);
    expect(shapes.get('model.layers.0.mlp.experts.down_proj_bias')).toEqual([32, 2880]);
  });
  it('of the module of DeepSeek that predicts a second token, behind the layers', () => {
    const names = hfTensorsOfMtp(named('deepseek-ai_DeepSeek-V3')).map(({ name }) => name);
    expect(names.slice(0, 4)).toEqual([
      'model.layers.61.enorm.weight',
      'model.layers.61.hnorm.weight',
      'model.layers.61.shared_head.norm.weight',
      'model.layers.61.eh_proj.weight',
    ]);
  });
});

describe('layers of several kinds', () => {
  it('three dense layers before the experts of DeepSeek V3', () => {
    const { layers } = named('deepseek-ai_DeepSeek-V3');
    expect(layers.slice(0, 4).map(({ ffn }) => `${ffn.kind} ${ffn.width}`)).toEqual([
      'dense 18432',
      'dense 18432',
      'dense 18432',
      'moe 2048',
    ]);
    expect(layers[3]?.ffn).toMatchObject({ shared: { width: 2048, gate: false }, scoring: 'sigmoid' });
  });
  it('five windows to one full layer in Gemma 3, every other one in Gemma 2 and GPT-OSS', () => {
    const windows = (name: string) =>
      named(name)
        .layers.slice(0, 7)
        .map(({ attention }) => attention.window ?? 'all');
    expect(windows('mlc-gemma3_1b_it')).toEqual([512, 512, 512, 512, 512, 'all', 512]);
    expect(windows('mlc-gemma2_2b')).toEqual([4096, 'all', 4096, 'all', 4096, 'all', 4096]);
    expect(windows('openai_gpt-oss-20b')).toEqual([128, 'all', 128, 'all', 128, 'all', 128]);
  });
  it('share one object where they are alike', () => {
    expect(new Set(named('deepseek-ai_DeepSeek-V3').layers).size).toBe(2);
    expect(new Set(named('Qwen_Qwen3-32B').layers).size).toBe(1);
  });
});

describe('what a step program cannot hold', () => {
  const missing = (name: string) => checkCompiles(named(name))[0]?.values?.['missing'];
  it('is named part by part', () => {
    expect(missing('deepseek-ai_DeepSeek-V3')).toBeUndefined();
    expect(missing('zai-org_GLM-5')).toEqual(['a sparse choice of tokens by an indexer']);
    expect(missing('mlc-qwen2moe')).toBeUndefined();
    expect(missing('bigscience_bloom')).toBeUndefined();
  });
  it('is nothing for what is Llama by another name', () => {
    expect(checkCompiles(named('mlc-internlm'))).toEqual([]);
    expect(checkCompiles(named('mlc-internlm2'))).toEqual([]);
  });
  it('leaves modules that predict further tokens out, with a note', () => {
    expect(checkCompiles(named('XiaomiMiMo_MiMo-7B-Base'))).toMatchObject([
      { code: 'MODEL_PART_LEFT_OUT', severity: 'note' },
    ]);
  });
});
