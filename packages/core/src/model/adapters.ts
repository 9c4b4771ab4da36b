/** @file Low-rank adapters (LoRA): the weights of a model are frozen, and beside some linear layers stands the product of two
 * narrow matrices, y = x W' + (alpha / rank) x A' B', which alone are trained.
 *
 * Targets are names of modules as Hugging Face has them, matched from the end (`q_proj`, `self_attn.q_proj`), as PEFT does.
 * Where the step program fuses linear layers (query, key and value; gate and up) their As are fused along the rank and their
 * Bs along the output, each with the rows of its own A. Source: [hu2021], section 4.1; docs/sources.md.
 */
import type { AdapterSpec, ModelSpec, ParameterDim, ParameterSpec } from './types.ts';

/** The target that stands for every linear layer of the blocks. */
export const ALL_LINEAR = 'all-linear';

/** Largest rank of an adapter. */
export const MOST_RANK = 65_536;

/** The model with its weights frozen and adapters beside its linear layers; its parameters say which are trained. */
export const withAdapters = (model: ModelSpec, adapters: AdapterSpec): ModelSpec =>
  Object.freeze({ ...model, adapters: Object.freeze({ ...adapters, targets: Object.freeze([...adapters.targets]) }) });

/** Linear layers that may have adapters, by their logical names. */
export const linears: readonly string[] = ['qkv.w', 'proj.w', 'fc1.w', 'fc2.w'];

/** Parameters of a layer under adapters: its own, frozen, and those of its adapters behind them. */
export function withAdapterParameters(
  parameters: readonly ParameterSpec[],
  { adapters }: Pick<ModelSpec, 'adapters'>,
): readonly ParameterSpec[] {
  if (adapters === undefined) return parameters;
  return [
    ...parameters.map((each): ParameterSpec => ({ ...each, frozen: true })),
    ...parameters.flatMap((each) => adapterPair(each, adapters)),
  ];
}

/** Which parts of a linear layer have adapters: the modules that it is fused of, or all parts where one module has them. */
export function adaptedParts(
  { name, tensors, dims }: ParameterSpec,
  { targets }: Pick<AdapterSpec, 'targets'>,
): { readonly modules: readonly string[]; readonly parts: readonly number[]; readonly shared: boolean } | undefined {
  if (!linears.includes(name)) return undefined;
  const sizes = dims[0]?.parts ?? [dims[0]?.size ?? 0];
  const modules = tensors.map((tensor) => tensor.name.replace(/\.weight$/, ''));
  const chosen = [...modules.keys()].filter((at) => targets.some((target) => isOf(modules[at] as string, target)));
  if (chosen.length === 0) return undefined;
  const shared = modules.length === 1;
  return {
    modules: chosen.map((at) => modules[at] as string),
    parts: shared ? [...sizes.keys()] : chosen,
    shared,
  };
}

export const isOf = (module: string, target: string): boolean =>
  target === ALL_LINEAR || module === target || module.endsWith(`.${target}`);

/** `qkv.A` [r h] and `qkv.B` [out r] of `qkv.w` [out h]. */
function adapterPair(linear: ParameterSpec, adapters: AdapterSpec): readonly ParameterSpec[] {
  const found = adaptedParts(linear, adapters);
  const [rows, columns] = linear.dims;
  if (found === undefined || rows === undefined || columns === undefined) return [];
  const { rank } = adapters;
  const { modules, parts, shared } = found;
  const sizes = parts.map((part) => rows.parts?.[part] ?? rows.size);
  const size = sizes.reduce((sum, each) => sum + each, 0);
  const out: ParameterDim = { ...rows, size, ...(rows.parts && { parts: sizes }) };
  const wide: ParameterDim = { label: 'a', size: rank * modules.length };
  const own = linear.name.slice(0, -'.w'.length);
  const of = (matrix: 'A' | 'B', dims: readonly ParameterDim[]): ParameterSpec => ({
    name: `${own}.${matrix}`,
    block: linear.block,
    dims,
    decay: true,
    tensors: modules.map((module, index) => ({
      name: `base_model.model.${module}.lora_${matrix}.weight`,
      shape: matrix === 'A' ? [rank, columns.size] : [shared ? size : (sizes[index] as number), rank],
    })),
  });
  return [of('A', [wide, columns]), of('B', [out, { label: 'r', size: rank }])];
}
