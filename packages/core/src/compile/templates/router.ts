/** @file The router of a layer with experts: scores of a token, the experts that it chooses, and their weights. */
import type { MoeFfn } from '../../model/index.ts';
import type { Compute } from '../../program/index.ts';
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

/** `input` (whole sequence) -> weights `rw` and numbers `ri` of each token's experts. */
export function route(builder: Builder, ffn: MoeFfn, input: string): void {
  const { dims, declare, compute } = builder;
  const chosen = dim('t', ffn.topK);
  declare('rl', [dims.sWhole, dims.b, dim('e', ffn.experts)], { dtype: 'fp32' });
  declare('rw', [dims.sWhole, dims.b, chosen], { dtype: 'fp32' });
  declare('ri', [dims.sWhole, dims.b, chosen], { dtype: 'int32' });
  compute('gemm', [input, 'router.w', ffn.routerBias ? 'router.b' : 'none'], ['rl']);
  compute('topk', ffn.selectionBias ? ['rl', 'router.c'] : ['rl'], ['rw', 'ri'], routing(ffn));
}

/** Gradient `drw` of the weights -> `drl` of the scores, and of the router's parameters. Both stay partial over tensor:
 * the weights meet partial outputs of the experts.
 */
export function routeBackward(builder: Builder, ffn: MoeFfn, input: string): void {
  const { dims, declare, compute } = builder;
  declare('drl', [dims.sWhole, dims.b, dim('e', ffn.experts)], { dtype: 'fp32', partial: overTensor });
  const scores = keepsScores(ffn) ? ['rl'] : [];
  compute('topk.dx', ['drw', 'rw', 'ri', ...scores], ['drl'], routing(ffn));
  compute('gemm.dw', ['drl', input], ffn.routerBias ? ['G.router.w+=', 'G.router.b+='] : ['G.router.w+=']);
  // The correction follows the load of the experts, by a rule of its own.
  if (ffn.selectionBias) compute('no-gradient', ['ri'], ['G.router.c+=']);
}

/** What goes into the experts: the tokens, multiplied by their weight where the model weighs inputs. */
export function routedInput(builder: Builder, ffn: MoeFfn, input: string): string {
  if (ffn.weighs !== 'input') return input;
  const { dims } = builder;
  builder.declare('xw', [dims.sWhole, dims.b, dims.h]);
  builder.compute('weigh', [input, 'rw'], ['xw']);
  return 'xw';
}

/** The operand with the weights of what comes out of the experts; none where inputs were multiplied. */
export const outputWeights = ({ weighs }: MoeFfn): string => (weighs === 'input' ? 'none' : 'rw');
