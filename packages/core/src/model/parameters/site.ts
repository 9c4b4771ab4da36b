/** @file Pieces that all blocks of parameters are made of. */
import { type HfNames, hfNames } from '../names/index.ts';
import type { BlockId, HfSlice, ModelSpec, ParameterDim, ParameterSpec } from '../types.ts';

/** Where parameters are written: the model, the block, and the prefix of its modules. */
export interface Site {
  readonly model: ModelSpec;
  readonly names: HfNames;
  readonly block: BlockId;
  /** `model.layers.3.`; empty outside layers. */
  readonly prefix: string;
}

export function siteOf(model: ModelSpec, block: BlockId): Site {
  const names = hfNames[model.kind];
  return { model, names, block, prefix: typeof block === 'number' ? `${names.layer}.${block}.` : '' };
}

/** Dims by their label; `f` and `v` may be cut anywhere, heads only between heads. */
export const free = (label: string, size: number): ParameterDim => ({ label, size });
export const even = (label: string, size: number): ParameterDim => ({ label, size, tensor: 'even' });
export const heads = (label: string, size: number): ParameterDim => ({ label, size, tensor: 'heads' });

/** A dim of the inner width of a feed-forward; gate and up are fused. */
export function innerDim(width: number, gated: boolean): ParameterDim {
  const inner = even('f', width);
  return gated ? { ...inner, size: 2 * width, parts: [width, width] } : inner;
}

/** A parameter of at least two dims, from the tensors that are fused along its first dim. */
export const matrix = (
  site: Site,
  name: string,
  dims: readonly ParameterDim[],
  tensors: readonly HfSlice[],
): ParameterSpec => ({ name, block: site.block, dims, decay: true, tensors });

/** A parameter of one dim: of a norm, or a bias. */
export const vector = (site: Site, name: string, dim: ParameterDim, tensors: readonly HfSlice[]): ParameterSpec => ({
  name,
  block: site.block,
  dims: [dim],
  decay: false,
  tensors,
});

/** The tensor of a matrix product; GPT-2 stores it as [in, out]. */
export function linear(site: Site, module: string, rows: number, columns: number): HfSlice {
  const name = `${site.prefix}${module}.weight`;
  if (site.names.transposed) return { name, shape: [columns, rows], transposed: true };
  return { name, shape: [rows, columns] };
}

/** Tensors of one dim: `sizes` of `modules`; one module holds the sum. */
export const vectors = (
  site: Site,
  modules: readonly string[],
  sizes: readonly number[],
  field: string = 'bias',
): readonly HfSlice[] =>
  rowsOf(modules, sizes).map(([module, rows]) => ({ name: `${site.prefix}${module}.${field}`, shape: [rows] }));

/** Tensors of matrix products with one input: `sizes` rows of `modules`; one module holds the sum. */
export const linears = (
  site: Site,
  modules: readonly string[],
  sizes: readonly number[],
  columns: number,
): readonly HfSlice[] => rowsOf(modules, sizes).map(([module, rows]) => linear(site, module, rows, columns));

/** Rows of each module: its own part, or all parts where one module holds them. */
export const rowsOf = (modules: readonly string[], sizes: readonly number[]): readonly (readonly [string, number])[] =>
  modules.length === sizes.length
    ? modules.map((module, index) => [module, sizes[index] ?? 0] as const)
    : modules.map((module) => [module, sizes.reduce((sum, size) => sum + size, 0)] as const);

/** A norm of the model over `size` values: a weight, and a bias where its norms have one. */
export function norm(site: Site, name: string, module: string, size: number = site.model.hidden): ParameterSpec[] {
  const biased = site.model.norm === 'layernorm' && site.model.normBias !== false;
  const part = (suffix: string, field: string): ParameterSpec =>
    vector(site, `${name}.${suffix}`, free('h', size), vectors(site, [module], [size], field));
  return biased ? [part('w', 'weight'), part('b', 'bias')] : [part('w', 'weight')];
}

/** A root mean square norm, whatever the norms of the model are. */
export const rmsNorm = (site: Site, name: string, module: string, dim: ParameterDim): ParameterSpec =>
  vector(site, name, dim, vectors(site, [module], [dim.size], 'weight'));
