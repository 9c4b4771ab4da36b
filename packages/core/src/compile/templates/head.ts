/** @file The head: final norm, output matrix and loss. Vocabulary-parallel when tensor > 1.
 *
 * With `lossChunks` the loss is taken piece by piece of the sequence, so that the logits of one piece are alive at a
 * time; backward makes them again. Pieces are counted from 1 and their buffers carry the number: `z1`, in backward `z1b`.
 */
import type { Template } from '../../program/index.ts';
import type { BlockContext } from '../context.ts';
import { type Builder, createBuilder, type Declarations, overTensor } from './builder.ts';
import { norm, normBackward } from './norm.ts';

const outputMatrix = (context: BlockContext): string => (context.model.tied ? 'wte' : 'lm.w');

/** Factor of the logits, their bias included. */
const logitFactor = ({ model: { logitScale, headBias } }: BlockContext) =>
  logitScale === undefined ? undefined : { factor: logitScale, ...(headBias && { scalesBias: 1 }) };

/** A piece of the sequence: its number as buffers carry it, empty where the loss is taken in one. */
interface Piece {
  readonly suffix: string;
  readonly index: number;
}

const piecesOf = ({ lossChunks }: BlockContext): readonly Piece[] =>
  Array.from({ length: lossChunks }, (_, index) => ({ suffix: lossChunks === 1 ? '' : `${index + 1}`, index }));

export function headForward(context: BlockContext, declarations: Declarations): Template {
  const builder = createBuilder(context, declarations, 'micro');
  const { dims, declare } = builder;
  norm(builder, 'x', 'lnf', 'nf', 'stf');
  const input = builder.gather('nf', 'nfg');
  declare('x', [dims.s, dims.b, dims.h], { scope: 'boundary' });
  declare('labels', [dims.sWhole, dims.b], { role: 'input', dtype: 'int32' });
  for (const piece of piecesOf(context)) {
    const part = inputOf(builder, input, piece, 'model');
    const labels = labelsOf(builder, piece);
    loss(builder, logits(builder, part, `z${piece.suffix}`, 'model'), labels, piece);
  }
  return { name: 'F.head', block: 'head', direction: 'forward', operations: builder.operations };
}

/** The rows of a piece, copied out; all rows where there is one piece. */
function inputOf(builder: Builder, input: string, { suffix, index }: Piece, rule: 'model' | 'recompute'): string {
  if (suffix === '') return input;
  const { dims, context } = builder;
  const name = rule === 'model' ? `nf${suffix}` : `nf${suffix}b`;
  builder.declare(name, [dims.sPiece, dims.b, dims.h]);
  builder.compute('slice', [input], [name], { piece: index, pieces: context.lossChunks }, rule);
  return name;
}

function labelsOf(builder: Builder, { suffix, index }: Piece): string {
  if (suffix === '') return 'labels';
  const { dims, context } = builder;
  builder.declare(`labels${suffix}`, [dims.sPiece, dims.b], { dtype: 'int32' });
  builder.compute('slice', ['labels'], [`labels${suffix}`], { piece: index, pieces: context.lossChunks });
  return `labels${suffix}`;
}

/** Logits of some rows, in float32 or as the loss plan keeps them. */
function logits(builder: Builder, input: string, to: string, rule: 'model' | 'recompute'): string {
  const { dims, context, compute } = builder;
  const { headBias, logitCap } = context.model;
  const shape = [dims.sPiece, dims.b, dims.v];
  const { loss: plan, type } = context;
  const made = plan === 'native' ? `${to}h` : to;
  builder.declare(to, shape, { role: 'logits', dtype: plan === 'fp32' || plan === 'native' ? 'fp32' : type });
  if (plan === 'native') builder.declare(made, shape, { role: 'logits' });
  compute('gemm', [input, outputMatrix(context), headBias ? 'lm.b' : 'none'], [made], logitFactor(context), rule);
  if (plan === 'native') compute('cast', [made], [to], undefined, rule);
  if (logitCap !== undefined) compute('cap', [to], [to], { cap: logitCap }, rule);
  return to;
}

/** Three all-reduces where the vocabulary is split; the maximum and the sum stay for backward. */
function loss(builder: Builder, z: string, labels: string, { suffix }: Piece): void {
  const { dims, compute, declare } = builder;
  const token = [dims.sPiece, dims.b];
  const [mx, se, tl] = [`mx${suffix}`, `se${suffix}`, `tl${suffix}`];
  declare(mx, token, { dtype: 'fp32', partial: [{ over: 'tensor', reduce: 'max' }] });
  declare(se, token, { dtype: 'fp32', partial: overTensor });
  declare(tl, token, { dtype: 'fp32', partial: overTensor });
  compute('rowmax', [z], [mx]);
  builder.allReduce(mx, 'max', 'vocabulary-parallel');
  compute('rowsumexp', [z, mx, labels], [se, tl]);
  builder.allReduce(se, 'sum', 'vocabulary-parallel');
  builder.allReduce(tl, 'sum', 'vocabulary-parallel');
  compute('nll', [mx, se, tl, 'scale'], ['loss+=']);
}

/** The head keeps its gathered input: one micro-batch lives at a time on the last stage, so no second gather. */
export function headBackward(context: BlockContext, declarations: Declarations): Template {
  const builder = createBuilder(context, declarations, 'micro');
  const { dims, declare } = builder;
  const input = context.sequenceParallel ? 'nfg' : 'nf';
  declare('dnfg', [dims.sWhole, dims.b, dims.h], { role: 'exchange', partial: overTensor });
  declare('dx', [dims.s, dims.b, dims.h], { scope: 'boundary' });
  const pieces = piecesOf(context);
  let dnf = '';
  for (const piece of pieces) {
    const reduce = piece === pieces.at(-1) ? () => void (dnf = builder.reduce('dnfg', 'dnf')) : undefined;
    pieceBackward(builder, input, piece, reduce);
  }
  normBackward(builder, { gradient: dnf, input: 'x', parameter: 'lnf', stats: 'stf', residual: 'none', to: 'dx' });
  return { name: 'B.head', block: 'head', direction: 'backward', operations: builder.operations };
}

/** Gradient of the logits `z`: beside them, or in their place; a cap asks for them once more. */
function logitGradient(builder: Builder, z: string, suffix: string): string {
  const { dims, compute, context } = builder;
  const { loss: plan, type, model } = context;
  const shape = [dims.sPiece, dims.b, dims.v];
  const inPlace = (plan === 'native' || plan === 'in-place') && model.logitCap === undefined;
  const dtype = plan === 'fp32' || plan === 'native' ? 'fp32' : type;
  const dz = inPlace ? z : builder.declare(`dz${suffix}`, shape, { role: 'logits', dtype });
  compute('cross-entropy.dx', [z, `mx${suffix}`, `se${suffix}`, `labels${suffix}`, 'scale'], [dz]);
  if (!inPlace || plan === 'in-place') return dz;
  builder.declare(`dz${suffix}`, shape, { role: 'logits' });
  compute('cast', [dz], [`dz${suffix}`]);
  return `dz${suffix}`;
}

/** `reduce` is called when the gradient of the input is complete, so that its exchange hides behind the last product. */
function pieceBackward(builder: Builder, input: string, piece: Piece, reduce: (() => void) | undefined): void {
  const { dims, compute, context } = builder;
  const { suffix, index } = piece;
  const { headBias, logitCap } = context.model;
  const isWhole = suffix === '';
  const part = inputOf(builder, input, piece, 'recompute');
  const z = isWhole ? 'z' : logits(builder, part, `z${suffix}b`, 'recompute');
  const dz = logitGradient(builder, z, suffix);
  if (logitCap !== undefined) compute('cap.dx', [dz, z], [dz], { cap: logitCap });
  const to = isWhole ? 'dnfg' : `dnf${suffix}`;
  if (!isWhole) builder.declare(to, [dims.sPiece, dims.b, dims.h], { partial: overTensor });
  compute('gemm.dx', [dz, outputMatrix(context)], [to], logitFactor(context));
  if (!isWhole)
    compute('place', [to, index === 0 ? 'none' : 'dnfg'], ['dnfg'], { piece: index, pieces: context.lossChunks });
  reduce?.();
  const gradients = [`G.${outputMatrix(context)}+=`, ...(headBias ? ['G.lm.b+='] : [])];
  compute('gemm.dw', [dz, part], gradients, logitFactor(context));
}
