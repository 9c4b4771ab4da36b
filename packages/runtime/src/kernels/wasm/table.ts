/** @file The rows of the kernel table that WebAssembly executes; what a row cannot do (an attribute that it does not know, an
 * activation that is not built in) the plain kernel does on the same memory.
 */
import { assertInvariant } from '@meshwright/core/errors';
import { type TensorKernels, tensorKernels } from '../index.ts';
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
import { attentionRows } from './attention-rows.ts';
import { addingExpertKernels, expertRows } from './expert-rows.ts';
import { flag, type Places, type Rows } from './places.ts';
import { ropeRows } from './rope-rows.ts';
import { unfusedRows } from './unfused-rows.ts';

/** Kernels that add into a result whose `adds` is set. */
export const addingKernels: ReadonlySet<string> = new Set([
  ...['gemm.dw', 'bias.dw', 'layernorm.dx', 'rmsnorm.dx'],
  ...addingExpertKernels,
]);

/** Attributes that the rows of a fast kernel know; a call with another one is the plain kernel's. */
const alwaysKnown: readonly string[] = ['heads', 'kvHeads', 'headSize', 'epsilon', 'function'];
const attention: readonly string[] = ['window', 'chunked', 'alibi', 'cap'];
const latent: readonly string[] = ['nopeSize', 'ropeSize', 'valueSize'];
const knownBy: Readonly<Partial<Record<keyof TensorKernels, readonly string[]>>> = {
  attention,
  'attention.dx': attention,
  'attention.block': [...attention, 'hop'],
  'attention.block.dx': [...attention, 'hop'],
  'latent-attention': latent,
  'latent-attention.dx': latent,
  scores: attention,
  'scores.dx': attention,
  context: attention,
  'context.dx': attention,
  rope: [...attention, 'theta', 'turned'],
  'rope.dx': [...attention, 'theta', 'turned'],
  cap: ['cap'],
  'cap.dx': ['cap'],
  combine: ['factor'],
  'combine.dx': ['factor'],
  unpermute: ['factor'],
  'unpermute.dx': ['factor'],
  'row-bias': ['factor'],
  'expert-bias': ['factor'],
};

export function wasmTable(places: Places): TensorKernels {
  const rows: Rows = {
    ...productRows(places),
    ...attentionRows(places),
    ...normRows(places),
    ...activationRows(places),
    ...elementRows(places),
    ...unfusedRows(places),
    ...ropeRows(places),
    ...expertRows(places),
    ...lossRows(places),
  };
  const careful = Object.entries(rows).map(([name, row]): readonly [string, Kernel] => {
    const plain = addingPlainly(tensorKernels[name as keyof TensorKernels]);
    const known = new Set([...alwaysKnown, ...(knownBy[name as keyof TensorKernels] ?? [])]);
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
      if (!c.writes[1]) return 'plain';
      const [x, residual] = [r(c, 1), c.reads[4]];
      const from = [r(c, 0), x, r(c, 2), r(c, 3)].map(({ data }) => at(data));
      const to = [w(c, 0).data, cleared(w(c, 1))].map(at);
      return kernels.rmsnormDx(rowsOf(x), sizeAt(x, -1), ...from, residual ? at(residual.data) : 0, ...to);
    },
  } as const satisfies Rows;
}

/** Activations by their number in the fast kernels. */
const activationNumbers: Readonly<Record<string, number>> = { 'gelu-tanh': 0, gelu: 1, silu: 2, relu: 3 };

function activationRows({ kernels, pointer: at }: Places) {
  const numberOfFunction = (c: KernelCall): number | undefined => activationNumbers[nameOf(c, 'function')];
  return {
    activation: (c) => {
      const kind = numberOfFunction(c);
      if (kind === undefined) return 'plain';
      return kernels.activate(kind, elementsOf(r(c, 0)), at(r(c, 0).data), at(w(c, 0).data));
    },
    'activation.dx': (c) => {
      const kind = numberOfFunction(c);
      if (kind === undefined) return 'plain';
      return kernels.activateDx(kind, elementsOf(r(c, 0)), at(r(c, 0).data), at(r(c, 1).data), at(w(c, 0).data));
    },
    gated: (c) => {
      const kind = numberOfFunction(c);
      if (kind === undefined) return 'plain';
      return kernels.gated(kind, rowsOf(r(c, 0)), sizeAt(w(c, 0), -1), at(r(c, 0).data), at(w(c, 0).data));
    },
    'gated.dx': (c) => {
      const kind = numberOfFunction(c);
      if (kind === undefined) return 'plain';
      const operands = [r(c, 0), r(c, 1), w(c, 0)].map(({ data }) => at(data));
      return kernels.gatedDx(kind, rowsOf(r(c, 0)), sizeAt(r(c, 0), -1), ...operands);
    },
    cap: (c) => kernels.cap(elementsOf(r(c, 0)), numberOf(c, 'cap'), at(r(c, 0).data), at(w(c, 0).data)),
    'cap.dx': (c) => {
      const operands = [r(c, 0), r(c, 1), w(c, 0)].map(({ data }) => at(data));
      kernels.capDx(elementsOf(r(c, 0)), numberOf(c, 'cap'), ...operands);
    },
  } as const satisfies Rows;
}

function elementRows({ kernels, pointer: at }: Places) {
  return {
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
