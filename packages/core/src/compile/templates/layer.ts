/** @file One layer, forward and backward. Row-parallel biases are added after the exchange, on the sequence shard. */
import type { Template } from '../../program/index.ts';
import type { BlockContext } from '../context.ts';
import { attend, attendBackward, gatheredInput } from './attend.ts';
import { type Builder, createBuilder, type Declarations } from './builder.ts';
import { hasRows, rowsBackward, rowsForward } from './expert-rows.ts';
import { feedForward, feedForwardBackward, feedType } from './ffn.ts';
import { latentAttend, latentAttendBackward } from './latent.ts';
import { norm, normBackward } from './norm.ts';
import { parallelBackward, parallelForward } from './parallel.ts';

export function layerForward(context: BlockContext, declarations: Declarations): Template {
  const builder = createBuilder(context, declarations, 'block');
  const { dims, declare } = builder;
  declare('x', [dims.s, dims.b, dims.h], { scope: 'boundary' });
  if (isParallel(context)) parallelForward(builder);
  else sequentialForward(builder);
  return { name: 'F.layer', block: 'layer', direction: 'forward', operations: builder.operations };
}

export function layerBackward(context: BlockContext, declarations: Declarations): Template {
  const builder = createBuilder(context, declarations, 'block');
  const { dims, declare } = builder;
  const shard = [dims.s, dims.b, dims.h];
  declare('dx', shard, { scope: 'boundary' });
  declare('dr', shard);
  if (isParallel(context)) parallelBackward(builder);
  else sequentialBackward(builder);
  return { name: 'B.layer', block: 'layer', direction: 'backward', operations: builder.operations };
}

const isLatent = ({ context }: Builder): boolean => context.layer.attention.kind === 'latent';

const isParallel = ({ layer }: BlockContext): boolean => layer.placement?.startsWith('parallel') === true;

/** Attention, then feed-forward; norms before each, behind each, or both. */
function sequentialForward(builder: Builder): void {
  const { dims, declare } = builder;
  const { attention, ffn, placement } = builder.context.layer;
  const behind = placement === 'both' || placement === 'post';
  const [first, second] = inputsOf(builder);
  if (first === 'n1') norm(builder, 'x', 'ln1', 'n1', 'st1', builder.context.kept);
  if (isLatent(builder)) latentAttend(builder, 'n1');
  else attend(builder, builder.gather(first, `${first}g`));
  let attended = builder.reduce('a', 'as');
  if (behind) attended = normBehind(builder, attended, attention.outBias ? 'proj.b' : 'none', 'pn1');
  declare('r', [dims.s, dims.b, dims.h]);
  addResidual(builder, attended, attention.outBias && !behind ? 'proj.b' : 'none', 'x', 'r', 'mk1');
  if (second === 'n2') norm(builder, 'r', 'ln2', 'n2', 'st2', feedType(builder.context));
  const bias = ffn.kind === 'dense' && ffn.bias ? 'fc2.b' : 'none';
  let fed = routedForward(builder, second);
  if (behind) fed = normBehind(builder, fed, bias, 'pn2');
  addResidual(builder, fed, behind ? 'none' : bias, 'r', 'y', 'mk2');
}

function sequentialBackward(builder: Builder): void {
  const { compute } = builder;
  const { attention, placement } = builder.context.layer;
  const behind = placement === 'both' || placement === 'post';
  const [first, second] = inputsOf(builder);
  let dc = droppedGradient(builder, 'dy', 'mk2', 'dyd');
  if (behind) dc = normBehindBackward(builder, dc, 'c', 'pn2');
  const dn2 = hasRows(builder) ? rowsBackward(builder, dc, second) : slicedBackward(builder, dc, second);
  if (second === 'r') compute('add', [dn2, 'none', 'dy'], ['dr']);
  else normBackward(builder, { gradient: dn2, input: 'r', parameter: 'ln2', stats: 'st2', residual: 'dy', to: 'dr' });

  let da = droppedGradient(builder, 'dr', 'mk1', 'drd');
  if (behind) da = normBehindBackward(builder, da, 'a', 'pn1');
  const drg = builder.gather(da, 'drg');
  const n1 = isLatent(builder) ? first : gatheredInput(builder, first);
  if (attention.outBias) compute('bias.dw', [da], ['G.proj.b+=']);
  const dn1 = isLatent(builder) ? latentAttendBackward(builder, drg, 'n1') : attendBackward(builder, drg, n1);
  if (first === 'x') compute('add', [dn1, 'none', 'dr'], ['dx']);
  else normBackward(builder, { gradient: dn1, input: 'x', parameter: 'ln1', stats: 'st1', residual: 'dr', to: 'dx' });
}

/** The feed-forward with its exchanges: over tensor, or over the grid of its experts. */
function routedForward(builder: Builder, input: 'n2' | 'r'): string {
  if (hasRows(builder)) return rowsForward(builder, input);
  feedForward(builder, builder.gather(input, `${input}g`));
  return builder.reduce('c', 'cs');
}

function slicedBackward(builder: Builder, dc: string, input: 'n2' | 'r'): string {
  const { ffn } = builder.context.layer;
  const dyg = builder.gather(dc, 'dyg');
  const gathered = gatheredInput(builder, input);
  if (ffn.kind === 'dense' && ffn.bias) builder.compute('bias.dw', [dc], ['G.fc2.b+=']);
  let dn2 = 'dn2g';
  feedForwardBackward(builder, dyg, gathered, () => {
    dn2 = builder.reduce('dn2g', 'dn2');
  });
  return dn2;
}

/** What attention and feed-forward read: normalised, or the residual itself where norms stand behind only. */
const inputsOf = ({ context }: Builder): readonly ['n1', 'n2'] | readonly ['x', 'r'] =>
  context.layer.placement === 'post' ? ['x', 'r'] : ['n1', 'n2'];

/** The output of a branch, normalised with its bias before it joins the residual. */
function normBehind(builder: Builder, branch: string, bias: string, parameter: 'pn1' | 'pn2'): string {
  if (bias !== 'none') builder.compute('add-bias', [branch, bias], [branch]);
  norm(builder, branch, parameter, `${parameter}o`, `${parameter}s`);
  return `${parameter}o`;
}

function normBehindBackward(builder: Builder, gradient: string, branch: 'a' | 'c', parameter: 'pn1' | 'pn2'): string {
  const { dims, context, declare } = builder;
  const to = declare(`d${branch}s`, [dims.s, dims.b, dims.h]);
  const whole = branch === 'c' && hasRows(builder);
  const input = context.sequenceParallel && !whole ? `${branch}s` : branch;
  normBackward(builder, { gradient, input, parameter, stats: `${parameter}s`, residual: 'none', to });
  return to;
}

function addResidual(builder: Builder, branch: string, bias: string, residual: string, to: string, mask: string): void {
  const { context, dims } = builder;
  if (context.dropout === 0) return builder.compute('add', [branch, bias, residual], [to]);
  builder.declare(mask, [dims.s, dims.b, dims.h], { dtype: 'u8' });
  const site = mask === 'mk1' ? 'projection' : 'ffn';
  builder.compute('dropout-add', [branch, bias, residual], [to, mask], { p: context.dropout, site });
}

/** The gradient of a branch behind its dropout: the residual's own gradient where there is none. */
function droppedGradient(builder: Builder, gradient: string, mask: string, to: string): string {
  const { context, dims } = builder;
  if (context.dropout === 0) return gradient;
  builder.declare(to, [dims.s, dims.b, dims.h]);
  builder.compute('dropout.dx', [gradient, mask], [to], { p: context.dropout });
  return to;
}
