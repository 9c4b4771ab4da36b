/** @file A layer whose attention and feed-forward stand side by side on one residual (GPT-J, GPT-NeoX, Phi, Falcon,
 * Cohere). Both write one partial sum, so forward exchanges once; backward exchanges once where they share a norm, and
 * once for each of two norms.
 */
import { attend, attendBackward, gatheredInput } from './attend.ts';
import type { Builder } from './builder.ts';
import { hasRows, rowsBackward, rowsForward } from './expert-rows.ts';
import { feedForward, feedForwardBackward, feedType } from './ffn.ts';
import { norm, normBackward } from './norm.ts';

const sharesNorm = ({ context }: Builder): boolean => context.layer.placement === 'parallel-shared';

const biasesOf = ({ context }: Builder): readonly string[] => {
  const { attention, ffn } = context.layer;
  return [attention.outBias ? 'proj.b' : 'none', ffn.kind === 'dense' && ffn.bias ? 'fc2.b' : 'none'];
};

/** x -> y = x + attention + feed-forward. */
export function parallelForward(builder: Builder): void {
  const { compute } = builder;
  if (hasRows(builder)) return rowsBesideForward(builder);
  norm(builder, 'x', 'ln1', 'n1', 'st1', sharesNorm(builder) ? feedType(builder.context) : builder.context.kept);
  const first = builder.gather('n1', 'n1g');
  attend(builder, first);
  if (!sharesNorm(builder)) norm(builder, 'x', 'ln2', 'n2', 'st2', feedType(builder.context));
  feedForward(builder, sharesNorm(builder) ? first : builder.gather('n2', 'n2g'), 'a');
  const sum = builder.reduce('a', 'as');
  const biases = biasesOf(builder);
  if (biases.every((bias) => bias === 'none')) compute('add', [sum, 'none', 'x'], ['y']);
  else compute('add-two', [sum, ...biases, 'x'], ['y']);
}

/** dy -> dx. */
export function parallelBackward(builder: Builder): void {
  const { compute } = builder;
  if (hasRows(builder)) return rowsBesideBackward(builder);
  const shared = sharesNorm(builder);
  const dyg = builder.gather('dy', 'dyg');
  for (const bias of biasesOf(builder)) if (bias !== 'none') compute('bias.dw', ['dy'], [`G.${bias}+=`]);
  const first = gatheredInput(builder, 'n1');
  let dn2 = 'dn2g';
  feedForwardBackward(builder, dyg, shared ? first : gatheredInput(builder, 'n2'), () => {
    if (!shared) dn2 = builder.reduce('dn2g', 'dn2');
  });
  if (!shared) {
    normBackward(builder, { gradient: dn2, input: 'x', parameter: 'ln2', stats: 'st2', residual: 'dy', to: 'dr' });
  }
  const dn1 = attendBackward(builder, dyg, first, shared ? 'dn2g' : undefined);
  const residual = shared ? 'dy' : 'dr';
  normBackward(builder, { gradient: dn1, input: 'x', parameter: 'ln1', stats: 'st1', residual, to: 'dx' });
}

/** Experts over a grid of their own leave a complete output beside attention's. */
function rowsBesideForward(builder: Builder): void {
  const { dims, declare, compute } = builder;
  const [bias = 'none'] = biasesOf(builder);
  norm(builder, 'x', 'ln1', 'n1', 'st1');
  attend(builder, builder.gather('n1', 'n1g'));
  const attended = builder.reduce('a', 'as');
  if (!sharesNorm(builder)) norm(builder, 'x', 'ln2', 'n2', 'st2');
  const fed = rowsForward(builder, sharesNorm(builder) ? 'n1' : 'n2');
  declare('r', [dims.s, dims.b, dims.h]);
  compute('add', [attended, bias, 'x'], ['r']);
  compute('add', [fed, 'none', 'r'], ['y']);
}

function rowsBesideBackward(builder: Builder): void {
  const { dims, declare, compute } = builder;
  const shared = sharesNorm(builder);
  const [bias = 'none'] = biasesOf(builder);
  const dn2 = rowsBackward(builder, 'dy', shared ? 'n1' : 'n2');
  let residual = 'dy';
  if (!shared) {
    normBackward(builder, { gradient: dn2, input: 'x', parameter: 'ln2', stats: 'st2', residual, to: 'dr' });
    residual = 'dr';
  }
  const dyg = builder.gather('dy', 'dyg');
  if (bias !== 'none') compute('bias.dw', ['dy'], [`G.${bias}+=`]);
  let dn1 = attendBackward(builder, dyg, gatheredInput(builder, 'n1'));
  if (shared) {
    declare('dna', [dims.s, dims.b, dims.h]);
    compute('add', [dn1, 'none', dn2], ['dna']);
    dn1 = 'dna';
  }
  normBackward(builder, { gradient: dn1, input: 'x', parameter: 'ln1', stats: 'st1', residual, to: 'dx' });
}
