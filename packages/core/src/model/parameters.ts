/** @file Every parameter of a model, in the logical form that the step program uses and under Hugging Face names.
 *
 * Names of the Llama family and of Mixtral are those of LlamaForCausalLM and MixtralForCausalLM, of GPT-2 those of
 * GPT2LMHeadModel (its linear layers are stored as [in, out]). A tied head has no tensor of its own.
 */
import type {
  AttentionSpec,
  BlockId,
  DenseFfn,
  HfSlice,
  LayerSpec,
  ModelSpec,
  MoeFfn,
  ParameterDim,
  ParameterSpec,
} from './types.ts';

/** A Hugging Face tensor by name and shape. */
export interface HfTensor {
  readonly name: string;
  readonly shape: readonly number[];
}

/** All parameters, block by block: embedding, layers in order, head. */
export function parametersOf(model: ModelSpec): readonly ParameterSpec[] {
  const blocks: readonly BlockId[] = ['embed', ...model.layers.keys(), 'head'];
  return blocks.flatMap((block) => blockParameters(model, block));
}

/** Parameters of one block. */
export function blockParameters(model: ModelSpec, block: BlockId): readonly ParameterSpec[] {
  if (block === 'embed') return embedParameters(model);
  if (block === 'head') return headParameters(model);
  const layer = model.layers[block];
  return layer === undefined ? [] : layerParameters(model, layer, block);
}

/** Tensors of the checkpoint that Hugging Face would write, each once; a tied head is not written. */
export const hfTensors = (model: ModelSpec): readonly HfTensor[] =>
  parametersOf(model).flatMap((parameter) => parameter.tensors.map(({ name, shape }) => ({ name, shape })));

const gptNames = (model: ModelSpec): boolean => model.kind === 'gpt2';

/** A matrix product's weight: GPT-2 stores it as [in, out]. */
function linear(model: ModelSpec, name: string, rows: number, columns: number): HfSlice {
  if (gptNames(model)) return { name, shape: [columns, rows], transposed: true };
  return { name, shape: [rows, columns] };
}

const vector = (name: string, size: number): HfSlice => ({ name, shape: [size] });

function embedParameters(model: ModelSpec): readonly ParameterSpec[] {
  const { hidden, vocabulary, learnedPositions } = model;
  const name = gptNames(model) ? 'transformer.wte.weight' : 'model.embed_tokens.weight';
  const columns: ParameterDim = { label: 'h', size: hidden };
  const table: ParameterSpec = {
    name: 'wte',
    block: 'embed',
    dims: [{ label: 'v', size: vocabulary, tensor: 'even' }, columns],
    decay: true,
    tensors: [{ name, shape: [vocabulary, hidden] }],
  };
  if (learnedPositions === undefined) return [table];
  const positions: ParameterSpec = {
    name: 'wpe',
    block: 'embed',
    dims: [{ label: 'n', size: learnedPositions }, columns],
    decay: true,
    tensors: [{ name: 'transformer.wpe.weight', shape: [learnedPositions, hidden] }],
  };
  return [table, positions];
}

function headParameters(model: ModelSpec): readonly ParameterSpec[] {
  const { hidden, vocabulary } = model;
  const norms = normParameters(model, 'lnf', 'head', gptNames(model) ? 'transformer.ln_f' : 'model.norm');
  if (model.tied) return norms;
  const head: ParameterSpec = {
    name: 'lm.w',
    block: 'head',
    dims: [
      { label: 'v', size: vocabulary, tensor: 'even' },
      { label: 'h', size: hidden },
    ],
    decay: true,
    tensors: [{ name: 'lm_head.weight', shape: [vocabulary, hidden] }],
  };
  return [...norms, head];
}

function normParameters(model: ModelSpec, name: string, block: BlockId, prefix: string): readonly ParameterSpec[] {
  const part = (suffix: string, field: string): ParameterSpec => ({
    name: `${name}.${suffix}`,
    block,
    dims: [{ label: 'h', size: model.hidden }],
    decay: false,
    tensors: [vector(`${prefix}.${field}`, model.hidden)],
  });
  return model.norm === 'layernorm' ? [part('w', 'weight'), part('b', 'bias')] : [part('w', 'weight')];
}

function layerParameters(model: ModelSpec, layer: LayerSpec, block: number): readonly ParameterSpec[] {
  const gpt = gptNames(model);
  const prefix = gpt ? `transformer.h.${block}` : `model.layers.${block}`;
  const first = `${prefix}.${gpt ? 'ln_1' : 'input_layernorm'}`;
  const second = `${prefix}.${gpt ? 'ln_2' : 'post_attention_layernorm'}`;
  const { ffn } = layer;
  return [
    ...normParameters(model, 'ln1', block, first),
    ...attentionParameters(model, layer.attention, block, prefix),
    ...normParameters(model, 'ln2', block, second),
    ...(ffn.kind === 'dense'
      ? denseParameters(model, ffn, block, `${prefix}.mlp`)
      : expertParameters(model, ffn, block, `${prefix}.block_sparse_moe`)),
  ];
}

function attentionParameters(
  model: ModelSpec,
  attention: AttentionSpec,
  block: number,
  prefix: string,
): readonly ParameterSpec[] {
  const { hidden } = model;
  const query = attention.heads * attention.headSize;
  const keyValue = attention.kvHeads * attention.headSize;
  const parts = [query, keyValue, keyValue];
  const size = query + 2 * keyValue;
  const gpt = gptNames(model);
  const columns: ParameterDim = { label: 'h', size: hidden };
  const fused: ParameterDim = { label: 'qkv', size, tensor: 'heads', parts };
  const sources = gpt
    ? [{ module: `${prefix}.attn.c_attn`, rows: size }]
    : ['q_proj', 'k_proj', 'v_proj'].map((module, index) => ({
        module: `${prefix}.self_attn.${module}`,
        rows: parts[index] ?? 0,
      }));
  const weights = sources.map(({ module, rows }) => linear(model, `${module}.weight`, rows, hidden));
  const biases = sources.map(({ module, rows }) => vector(`${module}.bias`, rows));
  const out = gpt ? `${prefix}.attn.c_proj` : `${prefix}.self_attn.o_proj`;
  const projection: ParameterDim = { label: 'o', size: query, tensor: 'heads' };
  return [
    { name: 'qkv.w', block, dims: [fused, columns], decay: true, tensors: weights },
    ...bias(attention.qkvBias, 'qkv.b', block, fused, biases),
    {
      name: 'proj.w',
      block,
      dims: [columns, projection],
      decay: true,
      tensors: [linear(model, `${out}.weight`, hidden, query)],
    },
    ...bias(attention.outBias, 'proj.b', block, columns, [vector(`${out}.bias`, hidden)]),
  ];
}

function denseParameters(model: ModelSpec, ffn: DenseFfn, block: number, prefix: string): readonly ParameterSpec[] {
  const { hidden } = model;
  const { width } = ffn;
  const gpt = gptNames(model);
  const columns: ParameterDim = { label: 'h', size: hidden };
  const inner: ParameterDim = { label: 'f', size: width, tensor: 'even' };
  const widened: ParameterDim = ffn.gated ? { ...inner, size: 2 * width, parts: [width, width] } : inner;
  const ins = gpt ? ['c_fc'] : ffn.gated ? ['gate_proj', 'up_proj'] : ['up_proj'];
  const out = `${prefix}.${gpt ? 'c_proj' : 'down_proj'}`;
  const weights = ins.map((module) => linear(model, `${prefix}.${module}.weight`, width, hidden));
  const biases = ins.map((module) => vector(`${prefix}.${module}.bias`, width));
  return [
    { name: 'fc1.w', block, dims: [widened, columns], decay: true, tensors: weights },
    ...bias(ffn.bias, 'fc1.b', block, widened, biases),
    {
      name: 'fc2.w',
      block,
      dims: [columns, inner],
      decay: true,
      tensors: [linear(model, `${out}.weight`, hidden, width)],
    },
    ...bias(ffn.bias, 'fc2.b', block, columns, [vector(`${out}.bias`, hidden)]),
  ];
}

function expertParameters(model: ModelSpec, ffn: MoeFfn, block: number, prefix: string): readonly ParameterSpec[] {
  const { hidden } = model;
  const { experts, width } = ffn;
  const rows: ParameterDim = { label: 'e', size: experts };
  const columns: ParameterDim = { label: 'h', size: hidden };
  const inner: ParameterDim = { label: 'f', size: width, tensor: 'even' };
  const widened: ParameterDim = ffn.gated ? { ...inner, size: 2 * width, parts: [width, width] } : inner;
  const each = (modules: readonly string[], shape: readonly number[]): readonly HfSlice[] =>
    Array.from({ length: experts }, (_, expert) =>
      modules.map((module) => ({ name: `${prefix}.experts.${expert}.${module}.weight`, shape })),
    ).flat();
  return [
    {
      name: 'router.w',
      block,
      dims: [rows, columns],
      decay: true,
      tensors: [{ name: `${prefix}.gate.weight`, shape: [experts, hidden] }],
    },
    {
      name: 'experts.fc1.w',
      block,
      dims: [rows, widened, columns],
      decay: true,
      tensors: each(ffn.gated ? ['w1', 'w3'] : ['w1'], [width, hidden]),
    },
    { name: 'experts.fc2.w', block, dims: [rows, columns, inner], decay: true, tensors: each(['w2'], [hidden, width]) },
  ];
}

function bias(
  present: boolean,
  name: string,
  block: number,
  dim: ParameterDim,
  tensors: readonly HfSlice[],
): readonly ParameterSpec[] {
  return present ? [{ name, block, dims: [dim], decay: false, tensors }] : [];
}
