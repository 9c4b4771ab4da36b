/** Rows whose operands depend on each other, against the plain kernels: attention of every kind, experts, positions. */
import { describe, expect, test } from 'vitest';
import { normal } from '../../numbers/hash.ts';
import { plainEngine } from '../engine.ts';
import type { TensorKernels } from '../index.ts';
import { findOpenBlas } from '../openblas/library.ts';
import { type Elements, type KernelCall, type LocalDim, type Tensor, wholeTensor, zigzagPlaces } from '../tensor.ts';
import { wasmEngine } from './engine.ts';
import { hasRelaxedVectors } from './exports.ts';

type Shape = readonly number[];
type Values = ArrayLike<number> | undefined;

/** An operand: its shape, its values, and what its dims are beside whole ones. */
interface Operand {
  readonly shape: Shape;
  readonly values?: ArrayLike<number>;
  readonly int?: true;
  readonly dims?: Readonly<Record<number, Partial<LocalDim>>>;
}

const plain = plainEngine('float32');
const found = findOpenBlas();
const engines = [
  ['wasm-portable', wasmEngine(2 ** 23)],
  ...(hasRelaxedVectors() ? [['wasm', wasmEngine(2 ** 23, { build: 'relaxed' })] as const] : []),
  ...(found.kind === 'found' ? [['openblas', wasmEngine(2 ** 23, { blas: found.library })] as const] : []),
] as const;
type Engine = (typeof engines)[number][1];

const product = (shape: Shape): number => shape.reduce((all, size) => all * size, 1);
const drawn = (seed: number, shape: Shape): Float64Array =>
  Float64Array.from({ length: product(shape) }, (_, index) => normal(seed, index));
const whole = (...shape: Shape): Operand => ({ shape });

let draws = 100;

function run(
  engine: Engine,
  kernel: keyof TensorKernels,
  reads: readonly (Operand | undefined)[],
  writes: readonly Operand[],
  attributes: KernelCall['attributes'],
): readonly Elements[] {
  const made = ({ shape, int, dims = {} }: Operand): Tensor => {
    const tensor = wholeTensor(engine.createElements(int ? 'int32' : 'fp32', product(shape)), shape);
    return { ...tensor, dims: tensor.dims.map((dim, index) => ({ ...dim, ...dims[index] })) };
  };
  const call: KernelCall = {
    reads: reads.map((each) => {
      if (!each) return undefined;
      const tensor = made(each);
      tensor.data.set(each.values ?? []);
      return tensor;
    }),
    writes: writes.map((each) => {
      const tensor = made(each);
      tensor.data.fill(Number.NaN);
      return tensor;
    }),
    attributes,
    draw: { seed: 0, firstSample: 0 },
  };
  engine.kernels[kernel](call);
  engine.endOperation();
  const results = call.writes.map((tensor) => tensor!.data.slice());
  for (const tensor of [...call.reads, ...call.writes]) if (tensor) engine.release(tensor.data);
  return results;
}

/** The largest difference, relative to the largest value of each result. */
function differences(got: readonly Elements[], wanted: readonly Elements[]): readonly number[] {
  return wanted.map((values, place) => {
    const largest = Math.max(1e-6, ...Array.from(values, Math.abs));
    return Math.max(...Array.from(values, (value, index) => Math.abs(value - got[place]![index]!))) / largest;
  });
}

const BOUND = 8e-6;

/** Gives both engines the same values; returns what the plain one makes of them. */
function same(
  engine: Engine,
  kernel: keyof TensorKernels,
  reads: readonly (Operand | undefined)[],
  writes: readonly Operand[],
  attributes: KernelCall['attributes'] = {},
): readonly Values[] {
  const filled = reads.map((each) => each && { ...each, values: each.values ?? drawn(draws++, each.shape) });
  const wanted = run(plain, kernel, filled, writes, attributes);
  for (const each of differences(run(engine, kernel, filled, writes, attributes), wanted))
    expect(each).toBeLessThan(BOUND);
  return [...filled.map((each) => each?.values), ...wanted];
}

const [S, B, A, G, D] = [150, 2, 4, 2, 12];
const P = (A + 2 * G) * D;
const heads = { heads: A, kvHeads: G, headSize: D };
const kinds: readonly (readonly [string, KernelCall['attributes']])[] = [
  ['all before', {}],
  ['a window', { window: 40 }],
  ['chunks', { window: 70, chunked: 1 }],
  ['a cap', { cap: 2 }],
  ['linear biases', { alibi: 1 }],
  ['a window, a cap and linear biases', { window: 65, cap: 3, alibi: 1 }],
];
const lseDims = { 0: { origin: 2, globalSize: 8 } };

describe.each(engines)('%s gives what the plain kernels give', (_engine, fast) => {
  test.each(kinds)('attention to %s, with and without sinks', (_name, more) => {
    const attributes = { ...heads, ...more };
    for (const sinks of [undefined, whole(A)]) {
      const writes = [whole(S, B, A * D), { shape: [A, S, B], dims: lseDims }];
      const [qkv, sink, o, lse] = same(fast, 'attention', [whole(S, B, P), sinks], writes, attributes);
      const reads = [
        whole(S, B, A * D),
        { shape: [S, B, P], values: qkv! },
        { shape: [S, B, A * D], values: o! },
        { shape: [A, S, B], values: lse!, dims: lseDims },
        ...(sinks ? [{ shape: [A], values: sink! }] : []),
      ];
      same(fast, 'attention.dx', reads, [whole(S, B, P), ...(sinks ? [whole(A)] : [])], attributes);
    }
  });

  test.each([
    ['all before', {}],
    ['a window', { window: 90 }],
    ['a cap', { cap: 2 }],
  ] as const)('blocks of a ring of zigzag pieces, to %s, merged by their statistics', (_name, more) => {
    const [ranks, rank, length] = [3, 1, 132];
    const size = (2 * (length * 2)) / (2 * ranks);
    const zigzag = { ranks, rank };
    const dim = { globalSize: 2 * length, places: zigzagPlaces(2 * length, ranks, rank), zigzag };
    const [Q, K] = [A * D, 2 * G * D];
    const qkv = { shape: [size, B, P], values: drawn(7, [size, B, P]), dims: { 0: dim } };
    let before: readonly (Operand | undefined)[] = [undefined, undefined];
    const keys = (hop: number): Operand => ({
      shape: [size, B, K],
      values: drawn(20 + hop, [size, B, K]),
      dims: { 0: dim },
    });
    for (let hop = 0; hop < ranks; hop++) {
      const attributes = { ...heads, ...more, hop };
      const writes = [whole(size, B, Q), whole(A, size, B)];
      const all = same(fast, 'attention.block', [qkv, keys(hop), ...before], writes, attributes);
      before = [
        { shape: [size, B, Q], values: all.at(-2)! },
        { shape: [A, size, B], values: all.at(-1)! },
      ];
    }
    for (let hop = 0; hop < ranks; hop++) {
      const reads = [{ shape: [size, B, Q], values: drawn(9, [size, B, Q]) }, qkv, keys(hop), ...before];
      const writes = [whole(size, B, Q), whole(size, B, K)];
      same(fast, 'attention.block.dx', reads, writes, { ...heads, ...more, hop });
    }
  });

  test('latent attention, keys with a shared part', () => {
    const sizes = { nopeSize: 10, ropeSize: 6, valueSize: 9 };
    const [q, kv, kr] = [whole(S, B, A * 16), whole(S, B, A * 19), whole(S, B, 6)];
    const results = [whole(S, B, A * 9), whole(A, S, B)];
    const [x, y, z, o, lse] = same(fast, 'latent-attention', [q, kv, kr], results, sizes);
    const reads = [
      ...[whole(S, B, A * 9), { ...q, values: x! }, { ...kv, values: y! }, { ...kr, values: z! }],
      ...[
        { shape: [S, B, A * 9], values: o! },
        { shape: [A, S, B], values: lse! },
      ],
    ];
    same(fast, 'latent-attention.dx', reads, [q, kv, kr], sizes);
  });

  test.each(kinds.filter(([, more]) => more['cap'] === undefined))('scores in memory, %s', (_name, more) => {
    const [L, attributes] = [37, { ...heads, ...more }];
    const [qkv, scores] = [whole(L, B, P), { shape: [A, B, L, L], dims: lseDims }];
    const slopes = run(plain, 'scores', [{ ...qkv, values: drawn(1, qkv.shape) }], [scores], attributes)[0]!;
    const masked = run(fast, 'scores', [{ ...qkv, values: drawn(1, qkv.shape) }], [scores], attributes)[0]!;
    for (const [index, each] of slopes.entries()) {
      if (Number.isFinite(each)) expect(Math.abs(masked[index]! - each)).toBeLessThan(1e-4);
      else expect(masked[index]).toBe(each);
    }
    const [, pr] = same(fast, 'softmax', [{ ...scores, values: slopes }], [whole(A, B, L, L)]);
    same(fast, 'softmax-sinks', [{ ...scores, values: slopes }, whole(A)], [whole(A, B, L, L)]);
    const probabilities = { shape: [A, B, L, L], values: pr! };
    same(fast, 'context', [probabilities, qkv], [whole(L, B, A * D)], attributes);
    const reads = [whole(L, B, A * D), probabilities, qkv];
    const [, , , dpr] = same(fast, 'context.dx', reads, [whole(A, B, L, L), qkv], attributes);
    const [, , dsc] = same(
      fast,
      'softmax.dx',
      [{ ...probabilities, values: dpr! }, probabilities],
      [whole(A, B, L, L)],
    );
    same(fast, 'scores.dx', [{ ...probabilities, values: dsc! }, qkv], [qkv], attributes);
  });

  test('rotary positions of a piece, a zigzag piece and a part of each head', () => {
    const places = zigzagPlaces(48, 2, 1);
    const pieces = [
      { origin: 24, globalSize: 48 },
      { globalSize: 48, zigzag: { ranks: 2, rank: 1 }, places },
    ];
    for (const dim of pieces) {
      for (const turned of [D, 10]) {
        const qkv = { shape: [24, B, P], dims: { 0: dim } };
        for (const kernel of ['rope', 'rope.dx'] as const) {
          same(fast, kernel, [qkv], [qkv], { ...heads, theta: 10_000, turned });
        }
      }
    }
  });
});

describe.each(engines)('experts, %s', (_engine, fast) => {
  const [R, T, E, N, K] = [29, 2, 5, 22, 17];
  /** Expert 3 is never chosen. */
  const ri = {
    shape: [R, T],
    int: true,
    values: Array.from({ length: R * T }, (_, copy) => [0, 4, 2, 1, 0, 2][copy % 6]!),
  } as const;
  const copies = { ...ri, shape: [R * T] } as const;
  const counts = {
    shape: [1, E],
    int: true,
    values: [0, 1, 2, 3, 4].map((e) => ri.values.filter((each) => each === e).length),
  } as const;
  const rows = (width: number): Operand => ({ shape: [1, R * T, width], dims: { 0: { globalSize: E } } });

  test('copies that keep the place of their token', () => {
    same(fast, 'grouped-gemm', [whole(R * T, K), whole(E, N, K), copies], [whole(R * T, N)]);
    same(fast, 'grouped-gemm.dx', [whole(R * T, N), whole(E, N, K), copies], [whole(R * T, K)]);
    same(fast, 'grouped-gemm.dw', [whole(R * T, N), whole(R * T, K), copies], [whole(E, N, K)]);
    same(fast, 'expert-bias', [whole(R * T, N), whole(E, N), copies], [whole(R * T, N)], { factor: 0.5 });
    same(fast, 'expert-bias.dw', [whole(R * T, N), copies], [whole(E, N)]);
    same(fast, 'dispatch.dx', [whole(R, T, N)], [whole(R, N)]);
    for (const weights of [whole(R, T), undefined]) {
      same(fast, 'combine', [whole(R, T, N), weights], [whole(R, N)], { factor: 2.5 });
    }
    same(fast, 'combine.dx', [whole(R, N), whole(R, T, N), whole(R, T)], [whole(R, T, N), whole(R, T)], {
      factor: 2.5,
    });
    same(fast, 'combine.dx', [whole(R, N), undefined, undefined], [whole(R, T, N)]);
    same(fast, 'weigh', [whole(R, N), whole(R)], [whole(R, N)]);
    same(fast, 'weigh.dx', [whole(R, N), whole(R, N), whole(R)], [whole(R, N), whole(R)]);
  });

  test('rows in the order of their experts', () => {
    same(fast, 'permute', [whole(R, K), ri], [rows(K)]);
    same(fast, 'permute.dx', [rows(K), ri], [whole(R, K)]);
    same(fast, 'expert-gemm', [rows(K), whole(E, N, K), counts], [rows(N)]);
    same(fast, 'expert-gemm.dx', [rows(N), whole(E, N, K), counts], [rows(K)]);
    same(fast, 'expert-gemm.dw', [rows(N), rows(K), counts], [whole(E, N, K)]);
    same(fast, 'row-bias', [rows(N), whole(E, N), counts], [rows(N)], { factor: 0.5 });
    same(fast, 'row-bias.dw', [rows(N), counts], [whole(E, N)]);
    for (const weights of [whole(R, T), undefined]) {
      same(fast, 'unpermute', [rows(N), weights, ri], [whole(R, N)], { factor: 2.5 });
    }
    same(fast, 'unpermute.dx', [whole(R, N), rows(N), whole(R, T), ri], [rows(N), whole(R, T)], { factor: 2.5 });
    same(fast, 'unpermute.dx', [whole(R, N), undefined, undefined, ri], [rows(N)]);
  });
});
