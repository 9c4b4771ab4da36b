/** @file Experts over a grid of their own: each rank sends the rows of its tokens to the ranks of their experts and gets
 * them back. Rows are in one of three states: `home`, by expert on the rank of their tokens; `away`, on a rank of their
 * expert; `gathered`, all rows of those that hold slices of the same experts. Between home and away lies an all-to-all
 * over expert, between away and gathered a gather over expertTensor; where an axis has one rank, its states are one.
 *
 * Sizes depend on data: ranks tell each other how many rows they send, and the host waits for that before it can size
 * what comes. Source: Megatron-LM, megatron/core/transformer/moe/token_dispatcher.py (all-to-all dispatcher, dropless).
 */
import type { MoeFfn } from '../../model/index.ts';
import type { Collective, WhyRule } from '../../program/index.ts';
import type { Dim, DType } from '../../tensor/index.ts';
import { dim, type ExpertGrid } from '../context.ts';
import { gatheredInput } from './attend.ts';
import { branchFactor } from './branch.ts';
import { type Builder, overTensor } from './builder.ts';
import {
  declareWeightGradient,
  outputWeights,
  route,
  routeBackward,
  routedInput,
  routedInputBackward,
} from './router.ts';
import { sharedExperts, sharedExpertsBackward } from './shared-experts.ts';

type RowState = 'home' | 'away' | 'gathered';

/** Axes that cut the rows in each state, outer first: an exchange takes or gives the innermost. */
const rowAxes: Readonly<Record<RowState, readonly (keyof ExpertGrid)[]>> = {
  home: ['expertData', 'expertTensor', 'expert'],
  away: ['expertData', 'expertTensor'],
  gathered: ['expertData'],
};

interface RowOptions {
  readonly partial?: true;
  readonly dtype?: DType;
}

interface Rows {
  readonly grid: ExpertGrid;
  /** Declares rows of a width in a state. */
  rows(name: string, state: RowState, width: Dim, options?: RowOptions): string;
  /** The table that says where the rows of a state lie. */
  readonly table: string;
  /** Rows from their tokens to where their experts are whole; gives the name of what has arrived. */
  send(name: string, names: { readonly away: string; readonly gathered: string }): string;
  /** And back, summed over the slices of an expert. */
  fetch(name: string, names: { readonly away: string; readonly home: string }): string;
}

/** Whether the layer's experts lie over a grid of their own. */
export const hasRows = ({ context }: Builder): boolean =>
  context.grid !== undefined && context.layer.ffn.kind === 'moe';

/** `input` (the rank's own tokens) -> `c`, complete: the output of the chosen experts. */
export function rowsForward(builder: Builder, input: string): string {
  const { dims, declare, compute } = builder;
  const ffn = expertsOf(builder);
  const rows = rowsOf(builder, ffn);
  route(builder, ffn, input, 'own');
  countRows(builder, ffn, rows.grid);
  compute('permute', [routedInput(builder, ffn, input, 'own'), 'ri'], [rows.rows('xs', 'home', dims.h)]);
  const arrived = builder.narrow(rows.send('xs', { away: 'xd', gathered: 'xg' }), 'xq');
  compute(
    'expert-gemm',
    [arrived, 'experts.fc1.w', rows.table],
    [rows.rows('f', 'gathered', innerDim(ffn, rows.grid))],
  );
  if (ffn.bias) compute('row-bias', ['f', 'experts.fc1.b', rows.table], ['f']);
  activate(builder, ffn);
  compute('expert-gemm', ['ge', 'experts.fc2.w', rows.table], [rows.rows('cg', 'gathered', dims.h, { partial: true })]);
  if (ffn.bias) compute('row-bias', ['cg', 'experts.fc2.b', rows.table], ['cg'], shareOfBias(rows.grid));
  const back = rows.fetch('cg', { away: 'cd', home: 'ce' });
  declare('c', [dims.s, dims.b, dims.h]);
  compute('unpermute', [back, outputWeights(ffn), 'ri'], ['c'], branchFactor(builder));
  sharedBeside(builder, ffn, input);
  return 'c';
}

/** What is added to a sum over the slices of an expert is added in parts: every slice adds its share of the bias. */
const shareOfBias = ({ expertTensor }: ExpertGrid) => (expertTensor > 1 ? { factor: 1 / expertTensor } : undefined);

/** Shared experts are cut over tensor like any feed-forward: with exchanges of their own, added to the complete `c`. */
function sharedBeside(builder: Builder, ffn: MoeFfn, input: string): void {
  if (!ffn.shared) return;
  const { dims, declare, compute } = builder;
  declare('sh', [dims.sWhole, dims.b, dims.h], { role: 'exchange', partial: overTensor });
  sharedExperts(builder, ffn, builder.gather(input, `${input}g`), 'sh');
  compute('add', [builder.reduce('sh', 'shs'), 'none', 'c'], ['c']);
}

function sharedBesideBackward(builder: Builder, ffn: MoeFfn, dc: string, input: 'n1' | 'n2' | 'x' | 'r'): void {
  if (!ffn.shared) return;
  const { dims, declare, compute } = builder;
  const dyg = builder.gather(dc, 'dyg');
  declare('dn2g', [dims.sWhole, dims.b, dims.h], { role: 'exchange', partial: overTensor });
  sharedExpertsBackward(builder, ffn, dyg, gatheredInput(builder, input), 'dn2g');
  compute('add', [builder.reduce('dn2g', 'dn2s'), 'none', 'dn2'], ['dn2']);
}

/** Gradient `dc` of the output -> `dn2`, complete. The last weight gradient runs while the rows travel home. */
export function rowsBackward(builder: Builder, dc: string, input: 'n1' | 'n2' | 'x' | 'r'): string {
  const { dims, declare, compute } = builder;
  const ffn = expertsOf(builder);
  const rows = rowsOf(builder, ffn);
  const { table, grid } = rows;
  const { expert, expertTensor } = grid;
  const isNarrow = builder.context.kept !== builder.context.type;
  const [arrived, back] = [
    isNarrow ? 'xq' : expertTensor > 1 ? 'xg' : expert > 1 ? 'xd' : 'xs',
    expert > 1 ? 'ce' : expertTensor > 1 ? 'cd' : 'cg',
  ];
  rows.rows('dge', 'gathered', outerDim(ffn, grid));
  rows.rows('df', 'gathered', innerDim(ffn, grid));
  const weighsInput = ffn.weighs === 'input';
  const made = rows.rows('dce', 'home', dims.h);
  if (weighsInput) {
    compute('unpermute.dx', [dc, 'none', 'none', 'ri'], [made], branchFactor(builder));
  } else {
    const written = [made, declareWeightGradient(builder, ffn, 'own')];
    compute('unpermute.dx', [dc, back, 'rw', 'ri'], written, branchFactor(builder));
    routeBackward(builder, ffn, input, 'own');
  }
  const gradient = rows.send('dce', { away: 'dcd', gathered: 'dcg' });
  if (ffn.bias) compute('row-bias.dw', [gradient, table], ['G.experts.fc2.b+=']);
  compute('expert-gemm.dx', [gradient, 'experts.fc2.w', table], ['dge']);
  compute('expert-gemm.dw', [gradient, 'ge', table], ['G.experts.fc2.w+=']);
  compute(ffn.gated ? 'gated.dx' : 'activation.dx', ['dge', 'f'], ['df'], { function: ffn.activation });
  if (ffn.bias) compute('row-bias.dw', ['df', table], ['G.experts.fc1.b+=']);
  compute('expert-gemm.dx', ['df', 'experts.fc1.w', table], [rows.rows('dxp', 'gathered', dims.h, { partial: true })]);
  const home = rows.fetch('dxp', { away: 'dxd', home: 'dxs' });
  compute('expert-gemm.dw', ['df', arrived, table], ['G.experts.fc1.w+=']);
  declare('dn2', [dims.s, dims.b, dims.h]);
  compute('permute.dx', [home, 'ri'], [weighsInput ? 'dxw' : 'dn2']);
  if (weighsInput) {
    routedInputBackward(builder, ffn, input, 'dn2', 'own');
    routeBackward(builder, ffn, input, 'own');
  }
  compute('gemm.dx', ['drl', 'router.w'], ['dn2+=']);
  sharedBesideBackward(builder, ffn, dc, input);
  return 'dn2';
}

function expertsOf({ context }: Builder): MoeFfn {
  const { ffn } = context.layer;
  if (ffn.kind !== 'moe') throw new Error('internal: a layer without experts has no routed rows.');
  return ffn;
}

function activate(builder: Builder, ffn: MoeFfn): void {
  const rows = rowsOf(builder, ffn);
  rows.rows('ge', 'gathered', outerDim(ffn, rows.grid), { dtype: builder.context.kept });
  builder.compute(ffn.gated ? 'gated' : 'activation', ['f'], ['ge'], { function: ffn.activation });
}

const innerDim = ({ width, gated }: MoeFfn, { expertTensor }: ExpertGrid): Dim =>
  gated
    ? dim('f', 2 * width, 'expertTensor', expertTensor, [width, width])
    : dim('f', width, 'expertTensor', expertTensor);

const outerDim = ({ width }: MoeFfn, { expertTensor }: ExpertGrid): Dim =>
  dim('f', width, 'expertTensor', expertTensor);

/** Rows of each expert by rank, told to all ranks whose rows may come here; the host reads them. */
function countRows(builder: Builder, { experts }: MoeFfn, grid: ExpertGrid): void {
  const { compute, declare } = builder;
  const counts = (name: string, state: RowState): string =>
    declare(name, [ranksDim(grid, state), dim('e', experts)], { dtype: 'int32' });
  compute('count-rows', ['ri'], [counts('rc', 'home')]);
  const tell = (from: string, to: string, axis: 'expert' | 'expertTensor'): void => {
    builder.operations.push(overGrid('all-gather', [from], to, axis, 'count-rows', 'p', 'direct'));
  };
  if (grid.expert > 1) tell('rc', counts('rce', 'away'), 'expert');
  if (grid.expertTensor > 1) tell(grid.expert > 1 ? 'rce' : 'rc', counts('rct', 'gathered'), 'expertTensor');
  if (grid.expert === 1) return;
  const table = tableOf(grid);
  builder.operations.push({ kind: 'wait', lane: 'host', reads: [table], writes: [], why: { rule: 'count-rows' } });
}

const tableOf = ({ expert, expertTensor }: ExpertGrid): string =>
  expertTensor > 1 ? 'rct' : expert > 1 ? 'rce' : 'rc';

/** One place for each rank that holds tokens. */
function ranksDim(grid: ExpertGrid, state: RowState): Dim {
  const size = grid.expertData * grid.expertTensor * grid.expert;
  return { label: 'p', size, ...cutBy(grid, state) };
}

function cutBy(grid: ExpertGrid, state: RowState): Pick<Dim, 'cut'> {
  const cut = rowAxes[state].filter((axis) => grid[axis] > 1);
  return cut.length > 0 ? { cut } : {};
}

function rowsOf(builder: Builder, ffn: MoeFfn): Rows {
  const { context, declare } = builder;
  const grid = context.grid ?? { expert: 1, expertTensor: 1, expertData: 1 };
  const { experts, topK } = ffn;
  const copies = context.length * context.microBatch * context.data * topK;
  const rows: Rows['rows'] = (name, state, width, { partial, dtype } = {}) => {
    // What has not travelled is as much as the rank has tokens, whatever the router says.
    const load = state === 'home' || grid.expert === 1 ? 1 : context.load;
    const moved = state === 'home' ? 1 : grid.expert;
    return declare(
      name,
      [
        dim('e', experts, 'expert', moved),
        { label: 'r', size: copies, routed: { experts, load }, ...cutBy(grid, state) },
        width,
      ],
      {
        ...(dtype && { dtype }),
        ...(partial && grid.expertTensor > 1 && { partial: [{ over: 'expertTensor', reduce: 'sum' }] }),
      },
    );
  };
  const table = tableOf(grid);
  const exchange = (
    collective: Collective['collective'],
    from: string,
    to: string,
    axis: 'expert' | 'expertTensor',
    rule: WhyRule,
  ): string => {
    const along = rule === 'return-rows' ? 'e' : 'r';
    builder.operations.push(overGrid(collective, [from, table], to, axis, rule, along, 'direct'));
    return to;
  };
  const { h } = builder.dims;
  return {
    grid,
    rows,
    table,
    send: (name, { away, gathered }) => {
      let at = name;
      if (grid.expert > 1) at = exchange('all-to-all', at, rows(away, 'away', h), 'expert', 'dispatch-rows');
      if (grid.expertTensor === 1) return at;
      return exchange('all-gather', at, rows(gathered, 'gathered', h), 'expertTensor', 'gather-expert');
    },
    fetch: (name, { away, home }) => {
      let at = name;
      if (grid.expertTensor > 1) {
        at = exchange('reduce-scatter', at, rows(away, 'away', h), 'expertTensor', 'scatter-expert');
      }
      if (grid.expert === 1) return at;
      return exchange('all-to-all', at, rows(home, 'home', h), 'expert', 'return-rows');
    },
  };
}

const overGrid = (
  collective: Collective['collective'],
  reads: readonly string[],
  to: string,
  axis: 'expert' | 'expertTensor',
  rule: WhyRule,
  along: string,
  algorithm: Collective['algorithm'],
): Collective => ({
  kind: 'collective',
  lane: 'expert',
  collective,
  axis,
  dim: along,
  ...(collective === 'reduce-scatter' && { reduce: 'sum' as const }),
  factor: 1,
  algorithm,
  reads,
  writes: [{ buffer: to }],
  why: { rule, axis },
});
