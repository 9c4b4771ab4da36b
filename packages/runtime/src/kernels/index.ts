/** @file The kernels of this engine: one function for each row of the program's table, operands in the row's order. Norm
 * and optimizer rows work on the rank's shards and are in `optimizer.ts`.
 */
import type { KernelName } from '@meshwright/core/program';
import { activate, activateDx, cap, capDx, gated, gatedDx } from './activation.ts';
import { adapt, adaptDw, adaptDx } from './adapter.ts';
import { attention, attentionDx } from './attention.ts';
import { context, contextDx, scores, scoresDx, softmax, softmaxDx, softmaxSinksDx } from './attention-unfused.ts';
import { attentionBlock, attentionBlockDx, joinGradients, takeKeys } from './context-attention.ts';
import { embedding, embeddingDw, position, positionDw } from './embedding.ts';
import {
  combine,
  combineDx,
  dispatch,
  dispatchDx,
  expertBias,
  expertBiasDw,
  groupedGemm,
  groupedGemmDw,
  groupedGemmDx,
} from './experts.ts';
import { biasDw, type Factors, gemm, gemmDw, gemmDx } from './gemm.ts';
import type { HeadCounts } from './heads.ts';
import {
  type LatentSizes,
  latentAttention,
  latentAttentionDx,
  latentNorm,
  latentNormDx,
  type PartTurn,
  ropePart,
} from './latent.ts';
import { crossEntropyDx, nll, rowmax, rowsumexp } from './loss.ts';
import { layernorm, layernormDx, rmsnorm, rmsnormDx } from './norm.ts';
import { cast, place, slice } from './pieces.ts';
import {
  headGroups,
  queryKeyNorm,
  queryKeyNormDx,
  queryKeyNormHeads,
  queryKeyNormHeadsDx,
  wholeGroups,
} from './query-key-norm.ts';
import { add, addBias, dropout, dropoutAdd, dropoutDx } from './residual.ts';
import { rope, ropeDx } from './rope.ts';
import { type Routing, sigmoidGate, sigmoidGateDx, topk, topkDx, weigh, weighDx } from './routing.ts';
import {
  countRows,
  expertGemm,
  expertGemmDw,
  expertGemmDx,
  permute,
  permuteDx,
  rowBias,
  rowBiasDw,
  unpermute,
  unpermuteDx,
} from './rows.ts';
import { type Kernel, type KernelCall, nameOf, numberOf, readOf as r, writeOf as w } from './tensor.ts';

/** Rows over buckets of any number; the interpreter runs them shard by shard. */
export type BucketKernelName = 'square-sum' | 'clip' | 'copy-out' | 'copy-in' | 'adamw' | 'sgd';

export const headsOf = (c: KernelCall): HeadCounts => ({
  heads: numberOf(c, 'heads'),
  kvHeads: numberOf(c, 'kvHeads'),
  headSize: numberOf(c, 'headSize'),
  ...(c.attributes['window'] !== undefined && { window: numberOf(c, 'window') }),
  ...(c.attributes['chunked'] !== undefined && { chunked: true }),
  ...(c.attributes['alibi'] !== undefined && { alibi: true }),
  ...(c.attributes['cap'] !== undefined && { cap: numberOf(c, 'cap') }),
});
/** A number that a call may leave out. */
const optional = (c: KernelCall, name: string, otherwise: number): number =>
  c.attributes[name] === undefined ? otherwise : numberOf(c, name);
/** How far keys have come around the context ranks; absent: those of all are there. */
export const hopOf = (c: KernelCall): number | undefined =>
  c.attributes['hop'] === undefined ? undefined : numberOf(c, 'hop');
/** A factor on a product; absent: 1. */
export const factorOf = (c: KernelCall): number => optional(c, 'factor', 1);
const factorsOf = (c: KernelCall): Factors => {
  const product = factorOf(c);
  return { product, bias: c.attributes['scalesBias'] === undefined ? 1 : product };
};

const routingOf = (c: KernelCall): Routing => ({
  scoring: (c.attributes['scoring'] ?? 'softmax-chosen') as Routing['scoring'],
  normalized: c.attributes['normalized'] !== undefined,
  factor: factorOf(c),
  groups: optional(c, 'groups', 1),
  groupsChosen: optional(c, 'groupsChosen', 1),
  groupTop: optional(c, 'groupTop', 1),
});
/** Values of a head that are turned; absent: all. */
export const turnedOf = (c: KernelCall): number =>
  numberOf(c, c.attributes['turned'] === undefined ? 'headSize' : 'turned');
const epsilonOf = (c: KernelCall): number => numberOf(c, 'epsilon');

const partTurnOf = (c: KernelCall): PartTurn => ({
  nopeSize: numberOf(c, 'nopeSize'),
  ropeSize: numberOf(c, 'ropeSize'),
  theta: numberOf(c, 'theta'),
});
export const latentSizesOf = (c: KernelCall): LatentSizes => ({
  nopeSize: numberOf(c, 'nopeSize'),
  ropeSize: numberOf(c, 'ropeSize'),
  valueSize: numberOf(c, 'valueSize'),
});

const queryKeyNorms = (c: KernelCall, groups: ReturnType<typeof headGroups>): void =>
  queryKeyNorm(
    { qkv_SBP: r(c, 0), qn_D: r(c, 1), kn_D: r(c, 2) },
    { out_SBP: w(c, 0), raw_SBQ: w(c, 1), st_NSB: w(c, 2) },
    groups,
    epsilonOf(c),
  );

const queryKeyNormsDx = (c: KernelCall, groups: ReturnType<typeof headGroups>): void =>
  queryKeyNormDx(
    { dqkv_SBP: r(c, 0), raw_SBQ: r(c, 1), st_NSB: r(c, 2), qn_D: r(c, 3), kn_D: r(c, 4) },
    { out_SBP: w(c, 0), dqn_D: c.writes[1], dkn_D: c.writes[2] },
    groups,
  );

const attentionKernels = {
  'qk-norm': (c) => queryKeyNorms(c, headGroups(r(c, 0), headsOf(c))),
  'qk-norm.dx': (c) => queryKeyNormsDx(c, headGroups(r(c, 0), headsOf(c))),
  'qk-norm-heads': (c) =>
    queryKeyNormHeads(
      { qkv_SBP: r(c, 0), qn_AD: r(c, 1), kn_AD: r(c, 2) },
      { out_SBP: w(c, 0), raw_SBQ: w(c, 1), st_N2SB: w(c, 2) },
      headGroups(r(c, 0), headsOf(c)),
      epsilonOf(c),
    ),
  'qk-norm-heads.dx': (c) =>
    queryKeyNormHeadsDx(
      { dqkv_SBP: r(c, 0), raw_SBQ: r(c, 1), st_N2SB: r(c, 2), qn_AD: r(c, 3), kn_AD: r(c, 4) },
      { out_SBP: w(c, 0), dqn_AD: c.writes[1], dkn_AD: c.writes[2] },
      headGroups(r(c, 0), headsOf(c)),
    ),
  'qk-norm-all': (c) => queryKeyNorms(c, wholeGroups(r(c, 1), r(c, 2))),
  'qk-norm-all.dx': (c) => queryKeyNormsDx(c, wholeGroups(r(c, 3), r(c, 4))),
  rope: (c) => rope(r(c, 0), w(c, 0), headsOf(c), { theta: numberOf(c, 'theta'), turned: turnedOf(c) }),
  'rope.dx': (c) => ropeDx(r(c, 0), w(c, 0), headsOf(c), { theta: numberOf(c, 'theta'), turned: turnedOf(c) }),
  attention: (c) => attention(r(c, 0), c.reads[1], { o_SBAD: w(c, 0), lse_ASB: w(c, 1) }, headsOf(c)),
  'attention.dx': (c) =>
    attentionDx(
      { do_SBAD: r(c, 0), qkv_SBP: r(c, 1), o_SBAD: r(c, 2), lse_ASB: r(c, 3), sinks_A: c.reads[4] },
      { dqkv_SBP: w(c, 0), dsinks_A: c.writes[1] },
      headsOf(c),
    ),
  kv: (c) => takeKeys(r(c, 0), w(c, 0)),
  'attention.block': (c) =>
    attentionBlock(
      r(c, 0),
      r(c, 1),
      { o_SBAD: c.reads[2], lse_ASB: c.reads[3] },
      { o_SBAD: w(c, 0), lse_ASB: w(c, 1) },
      headsOf(c),
      hopOf(c),
    ),
  'attention.block.dx': (c) =>
    attentionBlockDx(
      { do_SBAD: r(c, 0), qkv_SBP: r(c, 1), kv_UBK: r(c, 2), o_SBAD: r(c, 3), lse_ASB: r(c, 4) },
      { dq_SBQ: w(c, 0), dkv_UBK: w(c, 1) },
      headsOf(c),
      hopOf(c),
    ),
  'join-qkv': (c) => joinGradients(r(c, 0), r(c, 1), w(c, 0)),
  scores: (c) => scores(r(c, 0), w(c, 0), headsOf(c)),
  softmax: (c) => softmax(r(c, 0), w(c, 0)),
  'softmax-sinks': (c) => softmax(r(c, 0), w(c, 0), r(c, 1)),
  'softmax-sinks.dx': (c) => softmaxSinksDx(r(c, 0), r(c, 1), { dsc: w(c, 0), dsinks_A: c.writes[1] }),
  context: (c) => context(r(c, 0), r(c, 1), w(c, 0), headsOf(c)),
  'context.dx': (c) =>
    contextDx(
      { do_SBAD: r(c, 0), pr_ABSS: r(c, 1), qkv_SBP: r(c, 2) },
      { dpr_ABSS: w(c, 0), dqkv_SBP: w(c, 1) },
      headsOf(c),
    ),
  'softmax.dx': (c) => softmaxDx(r(c, 0), r(c, 1), w(c, 0)),
  'scores.dx': (c) => scoresDx(r(c, 0), r(c, 1), w(c, 0), headsOf(c)),
} as const satisfies Readonly<Record<string, Kernel>>;

const latentKernels = {
  'latent-norm': (c) =>
    latentNorm({ kl_RL: r(c, 0), w_C: r(c, 1) }, { kc_RC: w(c, 0), kr_RU: w(c, 1), st_1R: w(c, 2) }, epsilonOf(c)),
  'latent-norm.dx': (c) =>
    latentNormDx(
      { dkc_RC: r(c, 0), dkr_RU: r(c, 1), kl_RL: r(c, 2), st_1R: r(c, 3), w_C: r(c, 4) },
      { dkl_RL: w(c, 0), dw_C: w(c, 1) },
    ),
  'rope-part': (c) => ropePart(r(c, 0), w(c, 0), partTurnOf(c), 1),
  'rope-part.dx': (c) => ropePart(r(c, 0), w(c, 0), partTurnOf(c), -1),
  'latent-attention': (c) =>
    latentAttention(
      { q_SBQ: r(c, 0), kv_SBK: r(c, 1), kr_SBU: r(c, 2) },
      { o_SBAV: w(c, 0), lse_ASB: w(c, 1) },
      latentSizesOf(c),
    ),
  'latent-attention.dx': (c) =>
    latentAttentionDx(
      {
        ...{ do_SBAV: r(c, 0), q_SBQ: r(c, 1), kv_SBK: r(c, 2), kr_SBU: r(c, 3) },
        ...{ o_SBAV: r(c, 4), lse_ASB: r(c, 5) },
      },
      { dq_SBQ: w(c, 0), dkv_SBK: w(c, 1), dkr_SBU: w(c, 2) },
      latentSizesOf(c),
    ),
} as const satisfies Readonly<Record<string, Kernel>>;

const expertKernels = {
  topk: (c) => topk(r(c, 0), c.reads[1], { rw_RT: w(c, 0), ri_RT: w(c, 1) }, routingOf(c)),
  'topk.dx': (c) =>
    topkDx({ drw_RT: r(c, 0), rw_RT: r(c, 1), ri_RT: r(c, 2), rl_RE: c.reads[3] }, w(c, 0), routingOf(c)),
  weigh: (c) => weigh(r(c, 0), r(c, 1), w(c, 0)),
  'weigh.dx': (c) => weighDx({ dxw_RH: r(c, 0), x_RH: r(c, 1), rw_R: r(c, 2) }, { dx_RH: w(c, 0), drw_R: w(c, 1) }),
  'expert-bias': (c) => expertBias(r(c, 0), r(c, 1), r(c, 2), w(c, 0), factorOf(c)),
  'expert-bias.dw': (c) => expertBiasDw(r(c, 0), r(c, 1), w(c, 0)),
  'sigmoid-gate': (c) => sigmoidGate(r(c, 0), r(c, 1), w(c, 0)),
  'sigmoid-gate.dx': (c) =>
    sigmoidGateDx({ dy_RH: r(c, 0), so_RH: r(c, 1), sl_R: r(c, 2) }, { dso_RH: w(c, 0), dsl_R: w(c, 1) }),
  dispatch: (c) => dispatch(r(c, 0), w(c, 0)),
  'dispatch.dx': (c) => dispatchDx(r(c, 0), w(c, 0)),
  'grouped-gemm': (c) => groupedGemm(r(c, 0), r(c, 1), r(c, 2), w(c, 0)),
  'grouped-gemm.dx': (c) => groupedGemmDx(r(c, 0), r(c, 1), r(c, 2), w(c, 0)),
  'grouped-gemm.dw': (c) => groupedGemmDw(r(c, 0), r(c, 1), r(c, 2), w(c, 0)),
  combine: (c) => combine(r(c, 0), c.reads[1], w(c, 0), factorOf(c)),
  'combine.dx': (c) =>
    combineDx(
      { dy_RH: r(c, 0), ce_RTH: c.reads[1], rw_RT: c.reads[2] },
      { dce_RTH: w(c, 0), drw_RT: c.writes[1] },
      factorOf(c),
    ),
} as const satisfies Readonly<Record<string, Kernel>>;

const rowKernels = {
  'count-rows': (c) => countRows(r(c, 0), w(c, 0)),
  permute: (c) => permute(r(c, 0), r(c, 1), w(c, 0)),
  'permute.dx': (c) => permuteDx(r(c, 0), r(c, 1), w(c, 0)),
  'expert-gemm': (c) => expertGemm(r(c, 0), r(c, 1), r(c, 2), w(c, 0)),
  'expert-gemm.dx': (c) => expertGemmDx(r(c, 0), r(c, 1), r(c, 2), w(c, 0)),
  'expert-gemm.dw': (c) => expertGemmDw(r(c, 0), r(c, 1), r(c, 2), w(c, 0)),
  'row-bias': (c) => rowBias(r(c, 0), r(c, 1), r(c, 2), w(c, 0), factorOf(c)),
  'row-bias.dw': (c) => rowBiasDw(r(c, 0), r(c, 1), w(c, 0)),
  unpermute: (c) => unpermute({ ce_EMH: r(c, 0), rw_RT: c.reads[1], ri_RT: r(c, 2) }, w(c, 0), factorOf(c)),
  'unpermute.dx': (c) =>
    unpermuteDx(
      { dy_RH: r(c, 0), ce_EMH: c.reads[1], rw_RT: c.reads[2], ri_RT: r(c, 3) },
      { dce_EMH: w(c, 0), drw_RT: c.writes[1] },
      factorOf(c),
    ),
} as const satisfies Readonly<Record<string, Kernel>>;

const lossKernels = {
  rowmax: (c) => rowmax(r(c, 0), w(c, 0)),
  rowsumexp: (c) => rowsumexp({ z_RV: r(c, 0), mx_R: r(c, 1), labels_R: r(c, 2) }, { se_R: w(c, 0), tl_R: w(c, 1) }),
  nll: (c) => nll({ mx_R: r(c, 0), se_R: r(c, 1), tl_R: r(c, 2), scale: r(c, 3) }, w(c, 0)),
  'cross-entropy.dx': (c) =>
    crossEntropyDx({ z_RV: r(c, 0), mx_R: r(c, 1), se_R: r(c, 2), labels_R: r(c, 3), scale: r(c, 4) }, w(c, 0)),
} as const satisfies Readonly<Record<string, Kernel>>;

/** Every row of the program's kernel table but those over buckets. */
export type TensorKernels = Readonly<Record<Exclude<KernelName, BucketKernelName>, Kernel>>;

export const tensorKernels: TensorKernels = {
  gemm: (c) => gemm(r(c, 0), r(c, 1), c.reads[2], w(c, 0), factorsOf(c)),
  'gemm.dx': (c) => gemmDx(r(c, 0), r(c, 1), w(c, 0), factorOf(c)),
  'gemm.dw': (c) => gemmDw(r(c, 0), r(c, 1), w(c, 0), c.writes[1], factorsOf(c)),
  adapt: (c) => adapt(c, r(c, 0), r(c, 1), w(c, 0), factorOf(c)),
  'adapt.dx': (c) => adaptDx(c, r(c, 0), r(c, 1), w(c, 0), factorOf(c)),
  'adapt.dw': (c) => adaptDw(c, r(c, 0), r(c, 1), w(c, 0), factorOf(c)),
  'no-gradient': (c) => void w(c, 0).data.fill(0),
  'bias.dw': (c) => biasDw(r(c, 0), w(c, 0)),
  layernorm: (c) => layernorm(r(c, 0), r(c, 1), c.reads[2], w(c, 0), w(c, 1), epsilonOf(c)),
  'layernorm.dx': (c) =>
    layernormDx(
      { dy_RH: r(c, 0), x_RH: r(c, 1), st_2R: r(c, 2), w_H: r(c, 3), residual_RH: c.reads[4] },
      { dx_RH: w(c, 0), dw_H: c.writes[1], db_H: c.writes[2] },
    ),
  rmsnorm: (c) => rmsnorm(r(c, 0), r(c, 1), w(c, 0), w(c, 1), epsilonOf(c)),
  'rmsnorm.dx': (c) =>
    rmsnormDx(
      { dy_RH: r(c, 0), x_RH: r(c, 1), st_1R: r(c, 2), w_H: r(c, 3), residual_RH: c.reads[4] },
      { dx_RH: w(c, 0), dw_H: c.writes[1] },
    ),
  ...attentionKernels,
  dropout: (c) => dropout(r(c, 0), w(c, 0), w(c, 1), numberOf(c, 'p'), c.draw),
  'dropout.dx': (c) => dropoutDx(r(c, 0), r(c, 1), w(c, 0), numberOf(c, 'p')),
  add: (c) => add(r(c, 0), [c.reads[1]], r(c, 2), w(c, 0)),
  'add-bias': (c) => addBias(r(c, 0), r(c, 1), w(c, 0)),
  'add-two': (c) => add(r(c, 0), [c.reads[1], c.reads[2]], r(c, 3), w(c, 0)),
  'dropout-add': (c) =>
    dropoutAdd(
      { branch_RH: r(c, 0), bias_H: c.reads[1], residual_RH: r(c, 2) },
      { y_RH: w(c, 0), mask_RH: w(c, 1) },
      numberOf(c, 'p'),
      c.draw,
    ),
  activation: (c) => activate(r(c, 0), w(c, 0), nameOf(c, 'function')),
  'activation.dx': (c) => activateDx(r(c, 0), r(c, 1), w(c, 0), nameOf(c, 'function')),
  gated: (c) => gated(r(c, 0), w(c, 0), nameOf(c, 'function')),
  'gated.dx': (c) => gatedDx(r(c, 0), r(c, 1), w(c, 0), nameOf(c, 'function')),
  cap: (c) => cap(r(c, 0), w(c, 0), numberOf(c, 'cap')),
  'cap.dx': (c) => capDx(r(c, 0), r(c, 1), w(c, 0), numberOf(c, 'cap')),
  ...latentKernels,
  ...expertKernels,
  ...rowKernels,
  embedding: (c) => embedding(r(c, 0), r(c, 1), w(c, 0), factorOf(c)),
  'embedding.dw': (c) => embeddingDw(r(c, 0), r(c, 1), w(c, 0), factorOf(c)),
  position: (c) => position(r(c, 0), r(c, 1), w(c, 0)),
  'position.dw': (c) => positionDw(r(c, 0), w(c, 0)),
  ...lossKernels,
  cast: (c) => cast(r(c, 0), w(c, 0)),
  slice: (c) => slice(r(c, 0), w(c, 0), numberOf(c, 'piece')),
  place: (c) => place(r(c, 0), w(c, 0), numberOf(c, 'piece')),
};
