/** @file The rows of the kernel table that WebAssembly executes; what a row cannot do (an attribute that it does not know, an
 * activation that is not built in) the plain kernel does on the same memory.
 */
import { assertInvariant } from '@meshwright/core/errors';
import { type HeadCounts, headLayout, headOffsets } from '../heads.ts';
import { headsOf, type TensorKernels, tensorKernels } from '../index.ts';
import {
  dimAt,
  elementsOf,
  type Kernel,
  type KernelCall,
  nameOf,
  numberOf,
  readOf as r,
  rowsOf,
  sizeAt,
  type Tensor,
  writeOf as w,
} from '../tensor.ts';
import type { WasmKernels } from './exports.ts';

/** Finds the first byte of a tensor; what does not lie in the memory is copied into it for the operation. */
export type Pointer = (data: Tensor['data']) => number;

export interface Places {
  readonly kernels: WasmKernels;
  readonly pointer: Pointer;
  /** Room of {@link PACK_BYTES} for panels of products, then of {@link BLOCK_BYTES} for blocks of attention. */
  readonly pack: number;
}

export const PACK_BYTES: number = 1 << 20;
export const BLOCK_BYTES: number = 1 << 16;

/** Kernels that add into a result whose `adds` is set. */
export const addingKernels: ReadonlySet<string> = new Set(['gemm.dw', 'bias.dw', 'layernorm.dx', 'rmsnorm.dx']);

const flag = ({ adds }: Tensor): number => (adds ? 1 : 0);

/** Attributes that these rows know; a call with another one is the plain kernel's. */
const known: ReadonlySet<string> = new Set(['heads', 'kvHeads', 'headSize', 'epsilon', 'function']);

export function wasmTable(places: Places): TensorKernels {
  const rows: Rows = {
    ...productRows(places),
    ...attentionRows(places),
    ...normRows(places),
    ...elementRows(places),
    ...lossRows(places),
  };
  const careful = Object.entries(rows).map(([name, row]): readonly [string, Kernel] => {
    const plain = addingPlainly(tensorKernels[name as keyof TensorKernels]);
    const knows = (call: KernelCall): boolean => Object.keys(call.attributes).every((key) => known.has(key));
    return [name, (call) => (knows(call) && row(call) !== 'plain' ? undefined : plain(call))];
  });
  return { ...tensorKernels, ...Object.fromEntries(careful) };
}

/** A plain kernel, which overwrites, made to add where a result says so. */
const addingPlainly =
  (kernel: Kernel): Kernel =>
  (call) => {
    const before = call.writes.map((write) => (write?.adds ? write.data.slice() : undefined));
    kernel(call);
    for (const [place, held] of before.entries()) {
      const sum = call.writes[place]?.data;
      if (held && sum) for (let index = 0; index < held.length; index++) sum[index]! += held[index]!;
    }
  };

/** Does the work, or says that it is one for the plain kernel. */
type Row = (call: KernelCall) => void | 'plain';
type Rows = Partial<Record<keyof TensorKernels, Row>>;

function productRows({ kernels, pointer: at, pack }: Places) {
  return {
    gemm: (c) => {
      const [x, weights, bias, y] = [r(c, 0), r(c, 1), c.reads[2], w(c, 0)];
      const [R, N, K] = [rowsOf(x), sizeAt(weights, 0), sizeAt(weights, 1)];
      const [a, b, to] = [at(x.data), at(weights.data), at(y.data)];
      kernels.gemm(R, N, K, a, K, 1, b, 1, K, to, N, 0, bias ? at(bias.data) : 0, pack);
    },
    'gemm.dx': (c) => {
      const [dy, weights, dx] = [r(c, 0), r(c, 1), w(c, 0)];
      const [R, N, K] = [rowsOf(dy), sizeAt(weights, 0), sizeAt(weights, 1)];
      kernels.gemm(R, K, N, at(dy.data), N, 1, at(weights.data), K, 1, at(dx.data), K, 0, 0, pack);
    },
    'gemm.dw': (c) => {
      const [dy, x, dw, db] = [r(c, 0), r(c, 1), w(c, 0), c.writes[1]];
      const [R, N, K] = [rowsOf(dy), sizeAt(dy, -1), sizeAt(x, -1)];
      kernels.gemm(N, K, R, at(dy.data), 1, N, at(x.data), K, 1, at(dw.data), K, flag(dw), 0, pack);
      if (db) kernels.biasDw(R, N, at(dy.data), at(db.data), flag(db));
    },
    'bias.dw': (c) => {
      const [dy, db] = [r(c, 0), w(c, 0)];
      kernels.biasDw(rowsOf(dy), sizeAt(dy, -1), at(dy.data), at(db.data), flag(db));
    },
  } as const satisfies Rows;
}

/** Calls `head` for every query head of every sample with its first elements in qkv, o and lse. */
function eachHead(
  qkv_SBP: Tensor,
  counts: HeadCounts,
  head: (places: {
    readonly q: number;
    readonly k: number;
    readonly v: number;
    readonly o: number;
    readonly lse: number;
  }) => void,
): void {
  const layout = headLayout(qkv_SBP, counts);
  const { S, B, A, D, P } = layout;
  for (let a = 0; a < A; a++) {
    const { q, k, v } = headOffsets(layout, a);
    for (let b = 0; b < B; b++) {
      head({ q: b * P + q, k: b * P + k, v: b * P + v, o: (b * A + a) * D, lse: a * S * B + b });
    }
  }
}

function attentionRows({ kernels, pointer: at, pack }: Places) {
  const blocks = pack + PACK_BYTES;
  return {
    attention: (c) => {
      const counts = headsOf(c);
      const { S, B, A, D, P } = headLayout(r(c, 0), counts);
      const [x, o, lse] = [at(r(c, 0).data), at(w(c, 0).data), at(w(c, 1).data)];
      eachHead(r(c, 0), counts, (head) => {
        const [q, k, v] = [x + 4 * head.q, x + 4 * head.k, x + 4 * head.v];
        const out = [o + 4 * head.o, B * A * D, lse + 4 * head.lse, B];
        kernels.attention(S, D, 1 / Math.sqrt(D), q, k, v, B * P, ...out, pack, blocks);
      });
    },
    'attention.dx': (c) => {
      const counts = headsOf(c);
      const { S, B, A, D, P } = headLayout(r(c, 1), counts);
      w(c, 0).data.fill(0);
      const [dO, x, o, lse] = [at(r(c, 0).data), at(r(c, 1).data), at(r(c, 2).data), at(r(c, 3).data)];
      const dx = at(w(c, 0).data);
      eachHead(r(c, 1), counts, (head) => {
        const from = [x + 4 * head.q, x + 4 * head.k, x + 4 * head.v];
        const to = [dx + 4 * head.q, dx + 4 * head.k, dx + 4 * head.v];
        const out = [o + 4 * head.o, dO + 4 * head.o, B * A * D, lse + 4 * head.lse, B];
        kernels.attentionDx(S, D, 1 / Math.sqrt(D), ...from, ...to, B * P, ...out, pack, blocks);
      });
    },
  } as const satisfies Rows;
}

/** Zero where the kernel is to overwrite what it adds to. */
function cleared(tensor: Tensor): Tensor['data'] {
  if (!tensor.adds) tensor.data.fill(0);
  return tensor.data;
}

function normRows({ kernels, pointer: at }: Places) {
  return {
    layernorm: (c) => {
      const [x, b, y, st] = [r(c, 0), c.reads[2], w(c, 0), w(c, 1)];
      const [from, to] = [[x, r(c, 1)].map(({ data }) => at(data)), [y, st].map(({ data }) => at(data))];
      kernels.layernorm(rowsOf(x), sizeAt(x, -1), ...from, b ? at(b.data) : 0, ...to, numberOf(c, 'epsilon'));
    },
    'layernorm.dx': (c) => {
      if (!c.writes[2]) return 'plain';
      const [x, residual] = [r(c, 1), c.reads[4]];
      const from = [r(c, 0), x, r(c, 2), r(c, 3)].map(({ data }) => at(data));
      const to = [w(c, 0).data, cleared(w(c, 1)), cleared(w(c, 2))].map(at);
      return kernels.layernormDx(rowsOf(x), sizeAt(x, -1), ...from, residual ? at(residual.data) : 0, ...to);
    },
    rmsnorm: (c) => {
      const [x, y, st] = [r(c, 0), w(c, 0), w(c, 1)];
      const operands = [x, r(c, 1), y, st].map(({ data }) => at(data));
      kernels.rmsnorm(rowsOf(x), sizeAt(x, -1), ...operands, numberOf(c, 'epsilon'));
    },
    'rmsnorm.dx': (c) => {
      const [x, residual] = [r(c, 1), c.reads[4]];
      const from = [r(c, 0), x, r(c, 2), r(c, 3)].map(({ data }) => at(data));
      const to = [w(c, 0).data, cleared(w(c, 1))].map(at);
      kernels.rmsnormDx(rowsOf(x), sizeAt(x, -1), ...from, residual ? at(residual.data) : 0, ...to);
    },
  } as const satisfies Rows;
}

function elementRows({ kernels, pointer: at }: Places) {
  return {
    activation: (c) => {
      if (nameOf(c, 'function') !== 'gelu-tanh') return 'plain';
      return kernels.geluTanh(elementsOf(r(c, 0)), at(r(c, 0).data), at(w(c, 0).data));
    },
    'activation.dx': (c) => {
      if (nameOf(c, 'function') !== 'gelu-tanh') return 'plain';
      return kernels.geluTanhDx(elementsOf(r(c, 0)), at(r(c, 0).data), at(r(c, 1).data), at(w(c, 0).data));
    },
    gated: (c) => {
      if (nameOf(c, 'function') !== 'silu') return 'plain';
      return kernels.gatedSilu(rowsOf(r(c, 0)), sizeAt(w(c, 0), -1), at(r(c, 0).data), at(w(c, 0).data));
    },
    'gated.dx': (c) => {
      if (nameOf(c, 'function') !== 'silu') return 'plain';
      const operands = [r(c, 0), r(c, 1), w(c, 0)].map(({ data }) => at(data));
      return kernels.gatedSiluDx(rowsOf(r(c, 0)), sizeAt(r(c, 0), -1), ...operands);
    },
    add: (c) => {
      const [branch, bias, residual, y] = [r(c, 0), c.reads[1], r(c, 2), w(c, 0)];
      const biased = bias ? at(bias.data) : 0;
      kernels.add(rowsOf(branch), sizeAt(branch, -1), at(branch.data), biased, at(residual.data), at(y.data));
    },
  } as const satisfies Rows;
}

function lossRows({ kernels, pointer: at }: Places) {
  const vocabulary = (z: Tensor): readonly [number, number, number] => {
    const { size, valid, origin } = dimAt(z, -1);
    assertInvariant(z.data instanceof Float32Array, () => 'logits are not float32');
    return [size, valid, origin];
  };
  return {
    rowmax: (c) => {
      const [size, valid] = vocabulary(r(c, 0));
      kernels.rowmax(rowsOf(r(c, 0)), size, valid, at(r(c, 0).data), at(w(c, 0).data));
    },
    rowsumexp: (c) => {
      const operands = [r(c, 0), r(c, 1), r(c, 2), w(c, 0), w(c, 1)].map(({ data }) => at(data));
      kernels.rowsumexp(rowsOf(r(c, 0)), ...vocabulary(r(c, 0)), ...operands);
    },
    'cross-entropy.dx': (c) => {
      const operands = [r(c, 0), r(c, 1), r(c, 2), r(c, 3), w(c, 0)].map(({ data }) => at(data));
      kernels.crossEntropyDx(rowsOf(r(c, 0)), ...vocabulary(r(c, 0)), r(c, 4).data[0] ?? Number.NaN, ...operands);
    },
  } as const satisfies Rows;
}
