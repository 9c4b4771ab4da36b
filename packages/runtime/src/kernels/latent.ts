/** @file Latent attention (MLA): the norm of the narrow keys and values, rotary positions on a part of each head, and causal
 * attention whose keys have a rotary part that all heads share. Letters beside those of tensor.ts: L narrow keys and
 * values with the rotary part of the key, C without it, U that part, Q queries of all heads, K keys and values of all heads.
 */
import { addScaled, dot } from './attention.ts';
import { dimAt, rowsOf, sizeAt, type Tensor } from './tensor.ts';

export interface LatentSizes {
  readonly nopeSize: number;
  readonly ropeSize: number;
  readonly valueSize: number;
}

/** RMS norm of the leading C values; the rest is copied. */
export function latentNorm(
  reads: { kl_RL: Tensor; w_C: Tensor },
  writes: { kc_RC: Tensor; kr_RU: Tensor; st_1R: Tensor },
  epsilon: number,
): void {
  const R = rowsOf(reads.kl_RL);
  const [L, C, U] = [sizeAt(reads.kl_RL, -1), sizeAt(reads.w_C, 0), sizeAt(writes.kr_RU, -1)];
  const [kl, w] = [reads.kl_RL.data, reads.w_C.data];
  for (let r = 0; r < R; r++) {
    let squares = 0;
    for (let c = 0; c < C; c++) squares += kl[r * L + c]! ** 2;
    const scale = 1 / Math.sqrt(squares / C + epsilon);
    writes.st_1R.data[r] = scale;
    for (let c = 0; c < C; c++) writes.kc_RC.data[r * C + c] = kl[r * L + c]! * scale * w[c]!;
    for (let u = 0; u < U; u++) writes.kr_RU.data[r * U + u] = kl[r * L + C + u]!;
  }
}

export function latentNormDx(
  reads: { dkc_RC: Tensor; dkr_RU: Tensor; kl_RL: Tensor; st_1R: Tensor; w_C: Tensor },
  writes: { dkl_RL: Tensor; dw_C: Tensor },
): void {
  const R = rowsOf(reads.kl_RL);
  const [L, C, U] = [sizeAt(reads.kl_RL, -1), sizeAt(reads.w_C, 0), sizeAt(reads.dkr_RU, -1)];
  const [dkc, kl, w] = [reads.dkc_RC.data, reads.kl_RL.data, reads.w_C.data];
  const dkl = writes.dkl_RL.data;
  const sum_C = new Float64Array(C);
  for (let r = 0; r < R; r++) {
    const scale = reads.st_1R.data[r]!;
    let products = 0;
    for (let c = 0; c < C; c++) {
      const normal = kl[r * L + c]! * scale;
      sum_C[c]! += dkc[r * C + c]! * normal;
      products += dkc[r * C + c]! * w[c]! * normal;
    }
    for (let c = 0; c < C; c++) {
      const normal = kl[r * L + c]! * scale;
      dkl[r * L + c] = scale * (dkc[r * C + c]! * w[c]! - (normal * products) / C);
    }
    for (let u = 0; u < U; u++) dkl[r * L + C + u] = reads.dkr_RU.data[r * U + u]!;
  }
  writes.dw_C.data.set(sum_C);
}

/** Where the turned values of each head stand, and how they turn. */
export interface PartTurn {
  readonly nopeSize: number;
  readonly ropeSize: number;
  readonly theta: number;
}

/** Turns the last `ropeSize` of every `nopeSize + ropeSize` values, in the half-split convention; `sign` -1 turns back. */
export function ropePart(x_SBP: Tensor, out_SBP: Tensor, { nopeSize, ropeSize, theta }: PartTurn, sign: 1 | -1): void {
  const [S, B, P] = [sizeAt(x_SBP, 0), sizeAt(x_SBP, 1), sizeAt(x_SBP, 2)];
  const first = dimAt(x_SBP, 0).origin;
  const size = nopeSize + ropeSize;
  const half = ropeSize / 2;
  const [x, out] = [x_SBP.data, out_SBP.data];
  if (x !== out) out.set(x);
  for (let s = 0; s < S; s++) {
    for (let j = 0; j < half; j++) {
      const angle = (first + s) * theta ** ((-2 * j) / ropeSize);
      const [cos, sin] = [Math.cos(angle), sign * Math.sin(angle)];
      for (let b = 0; b < B; b++) {
        for (let head = 0; head < P / size; head++) {
          const at = (s * B + b) * P + head * size + nopeSize + j;
          const [low, high] = [x[at]!, x[at + half]!];
          out[at] = low * cos - high * sin;
          out[at + half] = high * cos + low * sin;
        }
      }
    }
  }
}

/** What attention reads. */
interface Operands {
  readonly q_SBQ: Tensor;
  readonly kv_SBK: Tensor;
  readonly kr_SBU: Tensor;
}

/** Places of one query, and of one key with its value, of a head. */
function placesOf({ q_SBQ, kv_SBK, kr_SBU }: Operands, { nopeSize, ropeSize, valueSize }: LatentSizes) {
  const [B, Q, K, U] = [sizeAt(q_SBQ, 1), sizeAt(q_SBQ, 2), sizeAt(kv_SBK, 2), sizeAt(kr_SBU, 2)];
  const D = nopeSize + ropeSize;
  return {
    S: sizeAt(q_SBQ, 0),
    B,
    A: Q / D,
    scale: 1 / Math.sqrt(D),
    query: (s: number, b: number, a: number): number => (s * B + b) * Q + a * D,
    key: (s: number, b: number, a: number): number => (s * B + b) * K + a * (nopeSize + valueSize),
    shared: (s: number, b: number): number => (s * B + b) * U,
  };
}

export function latentAttention(
  reads: Operands,
  writes: { o_SBAV: Tensor; lse_ASB: Tensor },
  sizes: LatentSizes,
): void {
  const { S, B, A, scale, query, key, shared } = placesOf(reads, sizes);
  const { nopeSize: N, ropeSize: U, valueSize: V } = sizes;
  const [q, kv, kr] = [reads.q_SBQ.data, reads.kv_SBK.data, reads.kr_SBU.data];
  const weight_S = new Float64Array(S);
  const row_V = new Float64Array(V);
  for (let a = 0; a < A; a++) {
    for (let b = 0; b < B; b++) {
      for (let i = 0; i < S; i++) {
        const from = query(i, b, a);
        let top = -Infinity;
        for (let j = 0; j <= i; j++) {
          const product = dot(q, from, kv, key(j, b, a), N) + dot(q, from + N, kr, shared(j, b), U);
          weight_S[j] = scale * product;
          top = Math.max(top, weight_S[j]!);
        }
        let sum = 0;
        row_V.fill(0);
        for (let j = 0; j <= i; j++) {
          const power = Math.exp(weight_S[j]! - top);
          sum += power;
          addScaled(row_V, 0, kv, key(j, b, a) + N, V, power);
        }
        for (let v = 0; v < V; v++) writes.o_SBAV.data[((i * B + b) * A + a) * V + v] = row_V[v]! / sum;
        writes.lse_ASB.data[(a * S + i) * B + b] = top + Math.log(sum);
      }
    }
  }
}

export function latentAttentionDx(
  reads: Operands & { do_SBAV: Tensor; o_SBAV: Tensor; lse_ASB: Tensor },
  writes: { dq_SBQ: Tensor; dkv_SBK: Tensor; dkr_SBU: Tensor },
  sizes: LatentSizes,
): void {
  const { S, B, A, scale, query, key, shared } = placesOf(reads, sizes);
  const { nopeSize: N, ropeSize: U, valueSize: V } = sizes;
  const [q, kv, kr, dO] = [reads.q_SBQ.data, reads.kv_SBK.data, reads.kr_SBU.data, reads.do_SBAV.data];
  const [dq, dkv, dkr] = [q, kv, kr].map(({ length }) => new Float64Array(length)) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  for (let a = 0; a < A; a++) {
    for (let b = 0; b < B; b++) {
      for (let i = 0; i < S; i++) {
        const row = ((i * B + b) * A + a) * V;
        const from = query(i, b, a);
        const mean = dot(dO, row, reads.o_SBAV.data, row, V);
        for (let j = 0; j <= i; j++) {
          const [to, common] = [key(j, b, a), shared(j, b)];
          const product = dot(q, from, kv, to, N) + dot(q, from + N, kr, common, U);
          const probability = Math.exp(scale * product - reads.lse_ASB.data[(a * S + i) * B + b]!);
          const slope = scale * probability * (dot(dO, row, kv, to + N, V) - mean);
          addScaled(dkv, to + N, dO, row, V, probability);
          addScaled(dq, from, kv, to, N, slope);
          addScaled(dq, from + N, kr, common, U, slope);
          addScaled(dkv, to, q, from, N, slope);
          addScaled(dkr, common, q, from + N, U, slope);
        }
      }
    }
  }
  writes.dq_SBQ.data.set(dq);
  writes.dkv_SBK.data.set(dkv);
  writes.dkr_SBU.data.set(dkr);
}
