/** @file Low-rank adapters beside linear layers. Under tensor parallelism an adapter is cut as its layer is: of a column-parallel
 * one A is whole and B is cut by output, of a row-parallel one A is cut by input and B is whole. Neither adds an exchange of
 * activations: the narrow product, or its gradient, stays partial and joins a sum that is made anyway; the gradient of
 * the whole half is summed over tensor once a step.
 */
import { adaptedParts, blockParameters, type ParameterSpec } from '../../model/index.ts';
import type { Compute } from '../../program/index.ts';
import { dim } from '../context.ts';
import { type Builder, overTensor } from './builder.ts';

/** Linear layers that may have adapters, by the stem of their names; of `proj` and `fc2` tensor parallelism cuts the input. */
export type Linear = 'qkv' | 'proj' | 'fc1' | 'fc2';

interface Adapter {
  /** Width of the narrow product: the rank for each adapted part. */
  readonly width: number;
  readonly isRow: boolean;
  readonly attributes: NonNullable<Compute['attributes']>;
}

function adapterOf({ context }: Builder, linear: Linear): Adapter | undefined {
  const { model, layer } = context;
  const { adapters } = model;
  if (adapters === undefined) return undefined;
  const spec = blockParameters({ ...model, layers: [layer] }, 0).find(({ name }) => name === `${linear}.w`);
  const found = spec && adaptedParts(spec, adapters);
  if (spec === undefined || found === undefined) return undefined;
  const isRow = linear === 'proj' || linear === 'fc2';
  const factor = (adapters.alpha / adapters.rank) * (isRow ? (model.residualScale ?? 1) : 1);
  return {
    width: adapters.rank * found.modules.length,
    isRow,
    attributes: { ...(factor !== 1 && { factor }), ...placesOf(spec, found) },
  };
}

/** Which parts of a fused output have an adapter, each with columns of its own; nothing where all share one. */
function placesOf(
  { dims }: ParameterSpec,
  { parts, shared }: NonNullable<ReturnType<typeof adaptedParts>>,
): NonNullable<Compute['attributes']> {
  if (shared) return {};
  const sizes = dims[0]?.parts ?? [];
  return Object.fromEntries([
    ...sizes.map((size, index) => [`p${index}`, size] as const),
    ...parts.map((part) => [`a${part}`, 1] as const),
  ]);
}

/** Adds the adapter of `linear` to what its layer has made of `input`. */
export function adapt(builder: Builder, linear: Linear, input: string, output: string): void {
  const adapter = adapterOf(builder, linear);
  if (adapter === undefined) return;
  const { dims, declare, compute } = builder;
  const narrow = declare(`${linear}u`, [dims.sWhole, dims.b, dim('u', adapter.width)], {
    ...(adapter.isRow && { partial: overTensor }),
  });
  compute('gemm', [input, `${linear}.A`, 'none'], [narrow]);
  compute('adapt', [narrow, `${linear}.B`], [`${output}+=`], attributesOf(adapter));
}

/** Adds what comes back through the adapter of `linear` to the gradient `to` of its input. */
export function adaptInputBackward(builder: Builder, linear: Linear, gradient: string, to: string): void {
  const adapter = adapterOf(builder, linear);
  if (adapter === undefined) return;
  const { dims, declare, compute } = builder;
  const narrow = declare(`d${linear}u`, [dims.sWhole, dims.b, dim('u', adapter.width)], {
    ...(!adapter.isRow && { partial: overTensor }),
  });
  compute('adapt.dx', [gradient, `${linear}.B`], [narrow], attributesOf(adapter));
  compute('gemm.dx', [narrow, `${linear}.A`], [`${to}+=`]);
}

/** Gradients of the adapter of `linear`; asked for behind {@link adaptInputBackward}. */
export function adaptWeightBackward(builder: Builder, linear: Linear, gradient: string, input: string): void {
  const adapter = adapterOf(builder, linear);
  if (adapter === undefined) return;
  const { compute } = builder;
  compute('adapt.dw', [gradient, `${linear}u`], [`G.${linear}.B+=`], attributesOf(adapter));
  compute('gemm.dw', [`d${linear}u`, input], [`G.${linear}.A+=`]);
}

const attributesOf = ({ attributes }: Adapter): Compute['attributes'] =>
  Object.keys(attributes).length === 0 ? undefined : attributes;
