/** @file The closed table of kernels. Price, memory, execution and drawing read these rows; there is no other place for
 * a FLOP or byte formula. Letters: s sequence, b micro-batch, h hidden, n output, k input, p fused query-key-value,
 * v vocabulary, e experts, t experts of a token, r routed rows, p ranks that hold tokens. Sizes in `work` are local to the rank.
 */

import { attention, attentionBackward, blockAttention, blockAttentionBackward, scoreProduct } from './attention.ts';
import { type ExpertKernel, expertRows } from './experts.ts';
import { type LatentKernel, latentRows } from './latent.ts';
import { adamw, clip, copy, sgd, squareSum } from './optimizer.ts';
import { cast, place, slice } from './pieces.ts';
import type { LocalOperands } from './row.ts';
import { fromEnd, gemmRow, type KernelRow, memoryRow, rows } from './row.ts';

const product = (operands: LocalOperands) => ({
  m: rows(operands.reads[0]),
  n: operands.reads[1]?.dims[0] ?? 0,
  k: fromEnd(operands.reads[0], 1),
  batch: 1,
});

const inputGradient = (operands: LocalOperands) => ({
  m: rows(operands.reads[0]),
  n: fromEnd(operands.reads[1], 1),
  k: fromEnd(operands.reads[0], 1),
  batch: 1,
});

const weightGradient = (operands: LocalOperands) => ({
  m: fromEnd(operands.reads[0], 1),
  n: fromEnd(operands.reads[1], 1),
  k: rows(operands.reads[0]),
  batch: 1,
});

export type KernelName =
  | ExpertKernel
  | LatentKernel
  | 'gemm'
  | 'gemm.dx'
  | 'gemm.dw'
  | 'adapt'
  | 'adapt.dx'
  | 'adapt.dw'
  | 'bias.dw'
  | 'no-gradient'
  | 'layernorm'
  | 'layernorm.dx'
  | 'rmsnorm'
  | 'rmsnorm.dx'
  | 'qk-norm'
  | 'qk-norm.dx'
  | 'qk-norm-heads'
  | 'qk-norm-heads.dx'
  | 'qk-norm-all'
  | 'qk-norm-all.dx'
  | 'rope'
  | 'rope.dx'
  | 'attention'
  | 'attention.dx'
  | 'kv'
  | 'join-qkv'
  | 'attention.block'
  | 'attention.block.dx'
  | 'scores'
  | 'softmax'
  | 'softmax-sinks'
  | 'softmax-sinks.dx'
  | 'context'
  | 'context.dx'
  | 'softmax.dx'
  | 'scores.dx'
  | 'dropout'
  | 'dropout.dx'
  | 'add'
  | 'add-two'
  | 'add-bias'
  | 'dropout-add'
  | 'activation'
  | 'activation.dx'
  | 'gated'
  | 'gated.dx'
  | 'cap'
  | 'cap.dx'
  | 'embedding'
  | 'embedding.dw'
  | 'position'
  | 'position.dw'
  | 'rowmax'
  | 'rowsumexp'
  | 'nll'
  | 'cross-entropy.dx'
  | 'cast'
  | 'slice'
  | 'place'
  | 'square-sum'
  | 'clip'
  | 'copy-out'
  | 'copy-in'
  | 'adamw'
  | 'sgd';

export const kernels: Readonly<Record<KernelName, KernelRow>> = {
  gemm: gemmRow('x:[.. k] w:[n k] bias?:[n] -> y:[.. n]', product),
  'gemm.dx': gemmRow('dy~:[.. n] w:[n k] -> dx~:[.. k]', inputGradient),
  'gemm.dw': gemmRow('dy~:[.. n] x:[.. k] -> dw~:[n k] db?~:[n]', weightGradient),
  // The wide half of an adapter, added to its layer's output: `a` columns for each adapted part, or the same for all.
  adapt: gemmRow('u~:[.. a!] w:[n r!] -> y~:[.. n*]', ({ reads: [u, w] }) => ({
    m: rows(u),
    n: w?.dims[0] ?? 0,
    k: fromEnd(w, 1),
    batch: 1,
  })),
  'adapt.dx': gemmRow('dy~:[.. n*] w:[n r!] -> du~:[.. a]', ({ reads: [gradient, w] }) => ({
    m: rows(gradient),
    n: fromEnd(w, 1),
    k: w?.dims[0] ?? 0,
    batch: 1,
  })),
  'adapt.dw': gemmRow('dy~:[.. n*] u~:[.. a!] -> dw~:[n r]', ({ reads: [gradient], writes: [dw] }) => ({
    m: dw?.dims[0] ?? 0,
    n: fromEnd(dw, 1),
    k: rows(gradient),
    batch: 1,
  })),
  'bias.dw': memoryRow('dy:[.. n] -> db:[n]', 1),
  // Zeros, for what corrects the choice of experts: it follows the load that `ri` shows, not the gradient.
  'no-gradient': memoryRow('ri:[s b t] -> dw:[n]', 0),

  layernorm: memoryRow('x:[.. h!] w:[h] b?:[h] -> y:[.. h] st:[2 ..]', 8),
  'layernorm.dx': memoryRow('dy:[.. h!] x:[.. h] st:[2 ..] w:[h] res?:[.. h] -> dx:[.. h] dw?:[h] db?:[h]', 14),
  rmsnorm: memoryRow('x:[.. h!] w:[h] -> y:[.. h] st:[1 ..]', 5),
  'rmsnorm.dx': memoryRow('dy:[.. h!] x:[.. h] st:[1 ..] w:[h] res?:[.. h] -> dx:[.. h] dw?:[h]', 11),

  // In place: `raw` keeps queries and keys as they were; a head has one statistic.
  'qk-norm': memoryRow('qkv:[s b p] qn:[d!] kn:[d] -> out:[s b p] raw:[s b p*] st:[p* s b]', 5),
  'qk-norm.dx': memoryRow('dqkv:[s b p] raw:[s b p*] st:[p* s b] qn:[d!] kn:[d] -> out:[s b p] dqn?:[d] dkn?:[d]', 11),
  // A layer norm for each head, each with weights of its own.
  'qk-norm-heads': memoryRow('qkv:[s b p] qn:[p* d!] kn:[p* d] -> out:[s b p] raw:[s b p*] st:[p* 2 s b]', 8),
  'qk-norm-heads.dx': memoryRow(
    'dqkv:[s b p] raw:[s b p*] st:[p* 2 s b] qn:[p* d!] kn:[p* d] -> out:[s b p] dqn?:[p* d] dkn?:[p* d]',
    14,
  ),
  // One norm over all heads of queries and one over all of keys: heads are whole.
  'qk-norm-all': memoryRow('qkv:[s b p!] qn:[q] kn:[k] -> out:[s b p] raw:[s b r] st:[2 s b]', 5),
  'qk-norm-all.dx': memoryRow(
    'dqkv:[s b p!] raw:[s b r] st:[2 s b] qn:[q] kn:[k] -> out:[s b p] dqn?:[q] dkn?:[k]',
    11,
  ),
  rope: memoryRow('qkv:[s b p] -> out:[s b p]', 3),
  'rope.dx': memoryRow('dqkv:[s b p] -> out:[s b p]', 3),
  attention: attention('qkv:[s! b p] sinks?:[p*] -> o:[s b p*] lse:[p* s b]'),
  'attention.dx': attentionBackward(
    'do:[s! b p*] qkv:[s b p] o:[s b p*] lse:[p* s b] sinks?:[p*] -> dqkv:[s b p] dsinks?:[p*]',
  ),
  // Context: queries of the rank against keys and values of another one (or of all), merged into what is there.
  kv: memoryRow('qkv:[s b p] -> kv:[s b p*]', 0),
  'attention.block': blockAttention(
    'qkv:[s b p] kv:[u& b p*] o?:[s b p*] lse?:[p* s b] -> out:[s b p*] stats:[p* s b]',
  ),
  'attention.block.dx': blockAttentionBackward(
    'do:[s b p*] qkv:[s b p] kv:[u& b p*] o:[s b p*] lse:[p* s b] -> dq:[s b p*] dkv:[u b p*]',
  ),
  'join-qkv': memoryRow('dq:[s b p*] dkv:[s b p*] -> dqkv:[s b p]', 0),
  scores: scoreProduct('qkv:[s! b p] -> sc:[p* b s s]'),
  softmax: memoryRow('sc:[.. s!] -> pr:[.. s]', 5),
  'softmax-sinks': memoryRow('sc:[p b s s!] sinks:[p] -> pr:[p b s s]', 5),
  'softmax-sinks.dx': memoryRow('dpr:[p b s s!] pr:[p b s s] -> dsc:[p b s s] dsinks?:[p]', 4),
  context: scoreProduct('pr:[p* b s! s] qkv:[s b p] -> o:[s b p*]'),
  'context.dx': scoreProduct('do:[s! b p*] pr:[p* b s s] qkv:[s b p] -> dpr:[p* b s s] dqkv:[s b p]'),
  'softmax.dx': memoryRow('dpr:[.. s!] pr:[.. s] -> dsc:[.. s]', 4),
  'scores.dx': scoreProduct('dsc:[p* b s! s] qkv:[s b p] -> dqkv:[s b p]'),

  dropout: memoryRow('x:[..] -> y:[..] mask:[..]', 2),
  'dropout.dx': memoryRow('dy:[..] mask:[..] -> dx:[..]', 1),
  add: memoryRow('branch:[.. h] bias?:[h] res:[.. h] -> y:[.. h]', 2),
  'add-bias': memoryRow('x:[.. h] bias:[h] -> y:[.. h]', 1),
  'add-two': memoryRow('branch:[.. h] bias?:[h] other?:[h] res:[.. h] -> y:[.. h]', 3),
  'dropout-add': memoryRow('branch:[.. h] bias?:[h] res:[.. h] -> y:[.. h] mask:[.. h]', 4),
  activation: memoryRow('x:[..] -> y:[..]', 8),
  'activation.dx': memoryRow('dy:[..] x:[..] -> dx:[..]', 12),
  gated: memoryRow('x:[.. g] -> y:[.. g*]', 6),
  'gated.dx': memoryRow('dy:[.. g*] x:[.. g] -> dx:[.. g]', 10),

  // y = c tanh(x / c); backward reads y alone.
  cap: memoryRow('x:[..] -> y:[..]', 4),
  'cap.dx': memoryRow('dy:[..] y:[..] -> dx:[..]', 4),

  ...expertRows,
  ...latentRows,

  embedding: memoryRow('tokens:[s b] w:[v h] -> y:[s b h]', 0),
  'embedding.dw': memoryRow('tokens:[s b] dy:[s b h] -> dw:[v h]', 1),
  position: memoryRow('x:[s b h] w:[n! h] -> y:[s b h]', 1),
  'position.dw': memoryRow('dy:[s b h] -> dw:[n h]', 1),
  rowmax: memoryRow('z:[.. v] -> mx:[..]', 1, 'max'),
  rowsumexp: memoryRow('z:[s b v] mx:[s b] labels:[s b] -> se:[s b] tl:[s b]', 4),
  nll: memoryRow('mx:[s b] se:[s b] tl:[s b] scale:[] -> loss:[]', 4),
  'cross-entropy.dx': memoryRow('z:[s b v] mx:[s b] se:[s b] labels:[s b] scale:[] -> dz:[s b v]', 5),

  cast,
  slice,
  place,

  'square-sum': squareSum,
  clip,
  'copy-out': copy,
  'copy-in': copy,
  adamw,
  sgd,
};

export type { KernelRow, LocalOperand, LocalOperands } from './row.ts';
export type { OperandRule, Signature } from './signature.ts';
