/** @file The router of a layer with experts: scores of a token, the experts that it chooses, and their weights. */
import type { MoeFfn } from '../../model/index.ts';
import type { Compute } from '../../program/index.ts';
import type { Dim } from '../../tensor/index.ts';
import { dim } from '../context.ts';
import { type Builder, overTensor } from './builder.ts';

/** Scores other than a softmax over the chosen are asked for again in backward. */
const keepsScores = ({ scoring }: MoeFfn): boolean => scoring !== undefined;

/** What the choice is made by; absent where it is the softmax over the best. */
function routing({ scoring, normalized, weightFactor, groups }: MoeFfn): Compute['attributes'] | undefined {
  const attributes = {
    ...(scoring && { scoring }),
    ...(normalized && { normalized: 1 }),
    ...(weightFactor !== undefined && { factor: weightFactor }),
    ...(groups && { groups: groups.count, groupsChosen: groups.chosen, groupTop: groups.top }),
  };
  return Object.keys(attributes).length > 0 ? attributes : undefined;
}

/** Whose tokens are routed: all of the sequence on every rank, or its own on each. */
export type Tokens = 'all' | 'own';

const sequenceOf = ({ dims }: Builder, tokens: Tokens): Dim => (tokens === 'all' ? dims.sWhole : dims.s);

/** `input` -> weights `rw` and numbers `ri` of each token's experts. */
export function route(builder: Builder, ffn: MoeFfn, input: string, tokens: Tokens): void {
  const { dims, declare, compute } = builder;
  const s = sequenceOf(builder, tokens);
  const chosen = dim('t', ffn.topK);
  declare('rl', [s, dims.b, dim('e', ffn.experts)], { dtype: 'fp32' });
  declare('rw', [s, dims.b, chosen], { dtype: 'fp32' });
  declare('ri', [s, dims.b, chosen], { dtype: 'int32' });
  compute('gemm', [input, 'router.w', ffn.routerBias ? 'router.b' : 'none'], ['rl']);
  compute('topk', ffn.selectionBias ? ['rl', 'router.c'] : ['rl'], ['rw', 'ri'], routing(ffn));
}

/** Gradient of the weights. Where all tokens are on every rank it is partial over tensor, and so is what follows from it:
 * the weights meet partial outputs of the experts.
 */
export function declareWeightGradient(builder: Builder, ffn: MoeFfn, tokens: Tokens): string {
  const chosen = dim('t', ffn.topK);
  const partial = tokens === 'all' ? { partial: overTensor } : {};
  return builder.declare('drw', [sequenceOf(builder, tokens), builder.dims.b, chosen], { dtype: 'fp32', ...partial });
}

/** Gradient `drw` of the weights -> `drl` of the scores, and of the router's parameters. */
export function routeBackward(builder: Builder, ffn: MoeFfn, input: string, tokens: Tokens): void {
  const { dims, declare, compute } = builder;
  const partial = tokens === 'all' ? { partial: overTensor } : {};
  const scored = [sequenceOf(builder, tokens), dims.b, dim('e', ffn.experts)];
  declare('drl', scored, { dtype: 'fp32', ...partial });
  const scores = keepsScores(ffn) ? ['rl'] : [];
  compute('topk.dx', ['drw', 'rw', 'ri', ...scores], ['drl'], routing(ffn));
  compute('gemm.dw', ['drl', input], ffn.routerBias ? ['G.router.w+=', 'G.router.b+='] : ['G.router.w+=']);
  // The correction follows the load of the experts, by a rule of its own.
  if (ffn.selectionBias) compute('no-gradient', ['ri'], ['G.router.c+=']);
}

/** What goes into the experts: the tokens, multiplied by their weight where the model weighs inputs. */
export function routedInput(builder: Builder, ffn: MoeFfn, input: string, tokens: Tokens): string {
  if (ffn.weighs !== 'input') return input;
  const { dims } = builder;
  builder.declare('xw', [sequenceOf(builder, tokens), dims.b, dims.h]);
  builder.compute('weigh', [input, 'rw'], ['xw']);
  return 'xw';
}

/** Gradient of the weighed inputs -> `to`, of the tokens, and `drw`. */
export function routedInputBackward(builder: Builder, ffn: MoeFfn, input: string, to: string, tokens: Tokens): string {
  const { dims } = builder;
  const partial = tokens === 'all' ? { partial: overTensor } : {};
  builder.declare('dxw', [sequenceOf(builder, tokens), dims.b, dims.h], partial);
  builder.compute('weigh.dx', ['dxw', input, 'rw'], [to, declareWeightGradient(builder, ffn, tokens)]);
  return to;
}

/** The operand with the weights of what comes out of the experts; none where inputs were multiplied. */
export const outputWeights = ({ weighs }: MoeFfn): string => (weighs === 'input' ? 'none' : 'rw');
