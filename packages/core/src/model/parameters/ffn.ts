import type { ExpertNames } from '../names/index.ts';
import type { DenseFfn, HfSlice, MoeFfn, ParameterSpec } from '../types.ts';
import { even, free, innerDim, linear, linears, matrix, rowsOf, type Site, vector, vectors } from './site.ts';

/** Parameters of a dense feed-forward. */
export function denseParameters(site: Site, ffn: DenseFfn): readonly ParameterSpec[] {
  const { names } = site;
  const { width, gated } = ffn;
  const columns = free('h', site.model.hidden);
  const biases = ffn.bias ? vectors(site, names.in, partsOf(width, gated)) : [];
  return [
    ...pair(site, '', width, gated, names),
    ...(ffn.bias ? [vector(site, 'fc1.b', innerDim(width, gated), biases)] : []),
    ...(ffn.bias ? [vector(site, 'fc2.b', columns, vectors(site, [names.down], [columns.size]))] : []),
  ].sort((a, b) => order(a) - order(b));
}

/** Weights stand before their own bias: fc1.w, fc1.b, fc2.w, fc2.b. */
const order = ({ name }: ParameterSpec): number => ['fc1.w', 'fc1.b', 'fc2.w', 'fc2.b'].indexOf(name);

const partsOf = (width: number, gated: boolean): readonly number[] => (gated ? [width, width] : [width]);

/** The two products of a feed-forward, under `stem` in logical names. */
function pair(
  site: Site,
  stem: string,
  width: number,
  gated: boolean,
  names: { readonly in: readonly string[]; readonly down: string },
): readonly ParameterSpec[] {
  const { hidden } = site.model;
  const columns = free('h', hidden);
  const ins = linears(site, names.in, partsOf(width, gated), hidden);
  return [
    matrix(site, `${stem}fc1.w`, [innerDim(width, gated), columns], ins),
    matrix(site, `${stem}fc2.w`, [columns, even('f', width)], [linear(site, names.down, hidden, width)]),
  ];
}

/** Parameters of routed experts, their router, and the experts that every token passes. */
export function expertParameters(site: Site, ffn: MoeFfn): readonly ParameterSpec[] {
  const names = site.names.experts;
  if (!names) throw new Error(`internal: ${site.model.kind} has experts and no names for them.`);
  const rows = free('e', ffn.experts);
  const columns = free('h', site.model.hidden);
  return [
    matrix(site, 'router.w', [rows, columns], [linear(site, names.router, rows.size, columns.size)]),
    ...(ffn.routerBias ? [vector(site, 'router.b', rows, vectors(site, [names.router], [rows.size]))] : []),
    ...selection(site, ffn, names),
    ...routed(site, ffn, names),
    ...shared(site, ffn, names),
  ];
}

/** The correction of the choice of experts: stored and counted like a parameter, and not moved by the gradient. */
function selection(site: Site, ffn: MoeFfn, names: ExpertNames): readonly ParameterSpec[] {
  if (!ffn.selectionBias || names.selectionBias === undefined) return [];
  const tensor = { name: `${site.prefix}${names.selectionBias}`, shape: [ffn.experts] };
  return [vector(site, 'router.c', free('e', ffn.experts), [tensor])];
}

function routed(site: Site, ffn: MoeFfn, names: ExpertNames): readonly ParameterSpec[] {
  const { experts, width, gated } = ffn;
  const { hidden } = site.model;
  const rows = free('e', experts);
  const columns = free('h', hidden);
  const parts = partsOf(width, gated);
  const out = expertTensors(site, names, experts, [[names.down, hidden]], width);
  const biased = (modules: readonly (readonly [string, number])[]): readonly HfSlice[] =>
    modules.map(([module, size]) => ({ name: `${site.prefix}${names.prefix}.${module}_bias`, shape: [experts, size] }));
  const inner = innerDim(width, gated);
  return [
    matrix(
      site,
      'experts.fc1.w',
      [rows, inner, columns],
      expertTensors(site, names, experts, rowsOf(names.in, parts), hidden),
    ),
    ...(ffn.bias
      ? [{ ...vector(site, 'experts.fc1.b', rows, biased(rowsOf(names.in, parts))), dims: [rows, inner] }]
      : []),
    matrix(site, 'experts.fc2.w', [rows, columns, even('f', width)], out),
    ...(ffn.bias
      ? [{ ...vector(site, 'experts.fc2.b', rows, biased([[names.down, hidden]])), dims: [rows, columns] }]
      : []),
  ];
}

/** Tensors of the experts: one by one, or all in one. */
function expertTensors(
  site: Site,
  names: ExpertNames,
  experts: number,
  modules: readonly (readonly [string, number])[],
  columns: number,
): readonly HfSlice[] {
  const prefix = `${site.prefix}${names.prefix}`;
  if (names.stacked === 'in-out') {
    return modules.map(([module, rows]) => ({
      name: `${prefix}.${module}`,
      shape: [experts, columns, rows],
      transposed: true as const,
    }));
  }
  if (names.stacked === 'out-in') {
    return modules.map(([module, rows]) => ({ name: `${prefix}.${module}.weight`, shape: [experts, rows, columns] }));
  }
  return Array.from({ length: experts }, (_, expert) =>
    modules.map(([module, rows]) => ({ name: `${prefix}.${expert}.${module}.weight`, shape: [rows, columns] })),
  ).flat();
}

function shared(site: Site, ffn: MoeFfn, names: ExpertNames): readonly ParameterSpec[] {
  if (!ffn.shared || !names.shared) return [];
  const { hidden } = site.model;
  const { width, gate } = ffn.shared;
  return [
    ...pair(site, 'shared.', width, ffn.gated, names.shared),
    ...(gate
      ? [matrix(site, 'shared.gate.w', [free('1', 1), free('h', hidden)], [linear(site, names.shared.gate, 1, hidden)])]
      : []),
  ];
}
