import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Issue } from '../errors/index.ts';
import { countParameters } from './counts.ts';
import { modelFromConfig } from './read-config.ts';

const folder = new URL('../../../../test/fixtures/configs/', import.meta.url);
const read = (file: string): unknown => JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
const index = read('index.json') as readonly { file: string; referenceParameters: number }[];
const refused = read('refused.json') as readonly { architecture: string; modelType?: string | null }[];

const llama = {
  model_type: 'llama',
  num_hidden_layers: 2,
  hidden_size: 64,
  num_attention_heads: 4,
  intermediate_size: 128,
  vocab_size: 100,
  max_position_embeddings: 64,
};
const tell = (issues: readonly Issue[]) => issues.map((each) => `${each.severity} ${each.code} ${each.path}`);
const from = (config: unknown) => modelFromConfig(config, { name: 'x' });

describe('parameters of known configurations', () => {
  it.each(index)('of $file equal the reference', ({ file, referenceParameters }) => {
    const { model, issues } = from(read(file));
    expect(issues.filter((each) => each.severity === 'error')).toEqual([]);
    expect(model && countParameters(model).total).toBe(referenceParameters);
  });
});

describe('architectures that are not modelled', () => {
  it.each(refused)('$architecture is refused with what is missing', ({ architecture, modelType }) => {
    const { model, issues } = from({ ...llama, architectures: [architecture], model_type: modelType });
    expect(model).toBeUndefined();
    expect(tell(issues)).toEqual(['error MODEL_NOT_SUPPORTED architectures']);
    expect(issues[0]?.message).toMatch(new RegExp(`^${architecture} is not modelled yet: it has .{10,}\\.$`));
  });
  it('are found by model_type when no class is named', () => {
    const { issues } = from({ ...llama, model_type: 'nemotron_h' });
    expect(issues[0]?.message).toContain('state space layers');
  });
  it('unknown ones are refused, with the nearest known name', () => {
    expect(from({ ...llama, model_type: 'lama' }).issues[0]).toMatchObject({
      code: 'MODEL_NOT_SUPPORTED',
      hint: 'Did you mean llama?',
    });
  });
  it('a class without a language head is refused', () => {
    const { issues } = from({ ...llama, architectures: ['LlamaForSequenceClassification'] });
    expect(tell(issues)).toEqual(['error MODEL_NOT_SUPPORTED architectures']);
  });
  it('a class of another model_type is a contradiction', () => {
    const { issues } = from({ ...llama, architectures: ['LlamaForCausalLM'], model_type: 'mixtral' });
    expect(tell(issues)).toEqual(['error MODEL_CONTRADICTS model_type']);
  });
  it('keys that change the layers are refused', () => {
    const { issues } = from({ ...llama, num_local_experts: 8, block_configs: [{}] });
    expect(tell(issues)).toEqual([
      'error MODEL_NOT_SUPPORTED num_local_experts',
      'error MODEL_NOT_SUPPORTED block_configs',
    ]);
  });
});

describe('reading a configuration', () => {
  it('takes the head size and the biases as given', () => {
    const attention = from({ ...llama, head_dim: 32, attention_bias: true }).model?.layers[0]?.attention;
    expect(attention).toMatchObject({ headSize: 32, qkvBias: true, outBias: true, kvHeads: 4 });
  });
  it('ties embeddings by the default of the architecture', () => {
    expect(from(llama).model?.tied).toBe(false);
    expect(from({ model_type: 'gpt2', n_layer: 1, n_embd: 8, n_head: 2 }).model?.tied).toBe(true);
    expect(from({ ...llama, tie_word_embeddings: true }).model?.tied).toBe(true);
  });
  it('fills a reduced GPT-2 file with documented defaults and says so', () => {
    const { model, issues } = from({ architectures: ['GPT2LMHeadModel'], n_embd: 16, n_head: 2, n_layer: 3 });
    expect(model).toMatchObject({ vocabulary: 50_257, learnedPositions: 1024 });
    expect(model?.layers[0]?.ffn).toMatchObject({ width: 64, gated: false, bias: true });
    expect(tell(issues)).toEqual(['note MODEL_DEFAULT_ASSUMED vocab_size', 'note MODEL_DEFAULT_ASSUMED n_positions']);
  });
  it('gives Qwen2 a bias on queries, keys and values only', () => {
    const { model } = from({ ...llama, model_type: 'qwen2', num_key_value_heads: 2 });
    expect(model?.layers[0]?.attention).toMatchObject({ qkvBias: true, outBias: false });
  });
  it('keeps one window in every layer, and the windows of every other layer', () => {
    const mistral = { ...llama, model_type: 'mistral', num_key_value_heads: 2 };
    const windows = (config: unknown) => from(config).model?.layers.map(({ attention }) => attention.window);
    expect(windows({ ...mistral, sliding_window: 32 })).toEqual([32, 32]);
    expect(windows(mistral)).toEqual([4096, 4096]);
    expect(windows({ ...mistral, sliding_window: null })).toEqual([undefined, undefined]);
    expect(from({ ...mistral, sliding_window: 32 }).issues).toEqual([]);
    expect(windows({ ...llama, model_type: 'gemma2', sliding_window: 32 })).toEqual([32, undefined]);
  });
  it('takes a null number of key and value heads as one for each head, and an absent one as the default', () => {
    const mixtral = { ...llama, model_type: 'mixtral', num_attention_heads: 16 };
    const kvHeads = (config: unknown) => from(config).model?.layers[0]?.attention.kvHeads;
    expect(kvHeads({ ...mixtral, num_key_value_heads: null })).toBe(16);
    expect(kvHeads(mixtral)).toBe(8);
    expect(tell(from({ ...mixtral, num_key_value_heads: null }).issues)).toEqual([
      'note MODEL_DEFAULT_ASSUMED num_local_experts',
      'note MODEL_DEFAULT_ASSUMED num_experts_per_tok',
    ]);
  });
  it('reads the rotary base from either place', () => {
    expect(from({ ...llama, rope_theta: 5e5 }).model?.layers[0]?.attention.rotary).toEqual({ theta: 5e5 });
    expect(from({ ...llama, rope_parameters: { rope_theta: 7e5 } }).model?.layers[0]?.attention.rotary).toEqual({
      theta: 7e5,
    });
  });
  it('takes the name from the file when it states one', () => {
    expect(from({ ...llama, _name_or_path: 'org/Some-Model-7B' }).model?.name).toBe('Some-Model-7B');
    expect(from(llama).model?.name).toBe('x');
  });
  it('reports everything that is wrong at once, under the names of the file', () => {
    const { issues } = from({
      ...llama,
      num_hidden_layers: '2',
      hidden_size: -1,
      vocab_size: undefined,
      hidden_act: 'slu',
      rms_norm_eps: Number.NaN,
    });
    expect(tell(issues).sort()).toEqual([
      'error KEY_MISSING vocab_size',
      'error VALUE_OUT_OF_RANGE hidden_size',
      'error VALUE_OUT_OF_RANGE rms_norm_eps',
      'error VALUE_UNKNOWN hidden_act',
      'error VALUE_WRONG_TYPE num_hidden_layers',
    ]);
  });
  it('refuses heads that do not fit', () => {
    expect(tell(from({ ...llama, num_attention_heads: 5 }).issues)).toEqual([
      'error HEAD_SIZE_NOT_WHOLE num_attention_heads',
    ]);
    expect(from({ ...llama, num_key_value_heads: 3 }).issues[0]).toMatchObject({
      code: 'KV_HEADS_NOT_DIVISOR',
      hint: 'Use 1, 2 or 4.',
    });
  });
  it.each([null, [], 'text', 3])('refuses %j', (value) => {
    expect(from(value).issues[0]?.code).toBe('VALUE_WRONG_TYPE');
  });
  it('asks for the type when a file says nothing', () => {
    expect(tell(from({}).issues)).toEqual(['error KEY_MISSING model_type']);
  });
});
