import { describe, expect, test } from 'vitest';
import { normal } from '../../numbers/hash.ts';
import { plainEngine } from '../engine.ts';
import type { TensorKernels } from '../index.ts';
import { findOpenBlas } from '../openblas/library.ts';
import { adamw } from '../optimizer.ts';
import { type Elements, type KernelCall, type Tensor, wholeTensor } from '../tensor.ts';
import { wasmEngine } from './engine.ts';
import { hasRelaxedVectors } from './exports.ts';

type Shape = readonly number[];

/** Operands of one row: shapes of reads and of writes, attributes, and reads that are no normal numbers. */
interface Case {
  readonly kernel: keyof TensorKernels;
  readonly reads: readonly (Shape | undefined)[];
  readonly writes: readonly Shape[];
  readonly attributes?: KernelCall['attributes'];
  readonly given?: Readonly<Record<number, (index: number) => number>>;
}

const heads = { heads: 4, kvHeads: 2, headSize: 12 };
const [S, B, P] = [75, 3, (4 + 2 * 2) * 12];
const R = 21;

/** Sizes that no block, panel or vector divides. */
const cases: readonly Case[] = [
  { kernel: 'gemm', reads: [[R, 3, 300], [45, 300], [45]], writes: [[R, 3, 45]] },
  { kernel: 'gemm', reads: [[5, 7], [530, 7], undefined], writes: [[5, 530]] },
  { kernel: 'gemm', reads: [[128, 64], [64, 64], undefined], writes: [[128, 64]] },
  {
    kernel: 'gemm.dx',
    reads: [
      [R, 3, 45],
      [45, 30],
    ],
    writes: [[R, 3, 30]],
  },
  {
    kernel: 'gemm.dw',
    reads: [
      [R, 3, 45],
      [R, 3, 30],
    ],
    writes: [[45, 30], [45]],
  },
  { kernel: 'bias.dw', reads: [[R, 30]], writes: [[30]] },
  {
    kernel: 'attention',
    reads: [[S, B, P]],
    writes: [
      [S, B, 48],
      [4, S, B],
    ],
    attributes: heads,
  },
  {
    kernel: 'layernorm',
    reads: [[R, 30], [30], [30]],
    writes: [
      [R, 30],
      [2, R],
    ],
    attributes: { epsilon: 1e-5 },
  },
  {
    kernel: 'layernorm.dx',
    reads: [[R, 30], [R, 30], [2, R], [30], [R, 30]],
    writes: [[R, 30], [30], [30]],
  },
  { kernel: 'layernorm.dx', reads: [[R, 32], [R, 32], [2, R], [32], undefined], writes: [[R, 32], [32], [32]] },
  {
    kernel: 'rmsnorm',
    reads: [[R, 30], [30]],
    writes: [
      [R, 30],
      [1, R],
    ],
    attributes: { epsilon: 1e-5 },
  },
  { kernel: 'rmsnorm.dx', reads: [[R, 30], [R, 30], [1, R], [30], [R, 30]], writes: [[R, 30], [30]] },
  { kernel: 'activation', reads: [[R, 3]], writes: [[R, 3]], attributes: { function: 'gelu-tanh' } },
  { kernel: 'activation', reads: [[R, 3]], writes: [[R, 3]], attributes: { function: 'relu' } },
  ...(['gelu', 'silu', 'relu'] as const).flatMap((name): readonly Case[] => [
    { kernel: 'activation', reads: [[R, 7]], writes: [[R, 7]], attributes: { function: name } },
    {
      kernel: 'activation.dx',
      reads: [
        [R, 7],
        [R, 7],
      ],
      writes: [[R, 7]],
      attributes: { function: name },
    },
    { kernel: 'gated', reads: [[R, 38]], writes: [[R, 19]], attributes: { function: name } },
    {
      kernel: 'gated.dx',
      reads: [
        [R, 19],
        [R, 38],
      ],
      writes: [[R, 38]],
      attributes: { function: name },
    },
  ]),
  { kernel: 'gated', reads: [[R, 38]], writes: [[R, 19]], attributes: { function: 'gelu-tanh' } },
  {
    kernel: 'gated.dx',
    reads: [
      [R, 19],
      [R, 38],
    ],
    writes: [[R, 38]],
    attributes: { function: 'gelu-tanh' },
  },
  { kernel: 'gated', reads: [[R, 38]], writes: [[R, 19]], attributes: { function: 'clamped-silu' } },
  { kernel: 'cap', reads: [[R, 7]], writes: [[R, 7]], attributes: { cap: 1.5 } },
  {
    kernel: 'cap.dx',
    reads: [
      [R, 7],
      [R, 7],
    ],
    writes: [[R, 7]],
    attributes: { cap: 1.5 },
    given: { 1: (index) => Math.sin(index) },
  },
  {
    kernel: 'activation.dx',
    reads: [
      [R, 3],
      [R, 3],
    ],
    writes: [[R, 3]],
    attributes: { function: 'gelu-tanh' },
  },
  { kernel: 'gated', reads: [[R, 38]], writes: [[R, 19]], attributes: { function: 'silu' } },
  {
    kernel: 'gated.dx',
    reads: [
      [R, 19],
      [R, 38],
    ],
    writes: [[R, 38]],
    attributes: { function: 'silu' },
  },
  { kernel: 'add', reads: [[R, 30], [30], [R, 30]], writes: [[R, 30]] },
  { kernel: 'add', reads: [[R, 30], undefined, [R, 30]], writes: [[R, 30]] },
  { kernel: 'rowmax', reads: [[R, 45]], writes: [[R]] },
  {
    kernel: 'rowsumexp',
    reads: [[R, 45], [R], [R]],
    writes: [[R], [R]],
    given: { 1: () => 3, 2: (index) => (index * 7) % 60 },
  },
  {
    kernel: 'cross-entropy.dx',
    reads: [[R, 45], [R], [R], [R], []],
    writes: [[R, 45]],
    given: { 1: () => 3, 2: () => 30, 3: (index) => (index * 7) % 60, 4: () => 0.01 },
  },
];

const plain = plainEngine('float32');
const fast = wasmEngine(2 ** 22);
const found = findOpenBlas();
const engines = [
  ['wasm-portable', fast],
  ...(hasRelaxedVectors() ? [['wasm', wasmEngine(2 ** 22, { build: 'relaxed' })] as const] : []),
  ...(found.kind === 'found' ? [['openblas', wasmEngine(2 ** 22, { blas: found.library })] as const] : []),
] as const;
const product = (shape: Shape): number => shape.reduce((all, size) => all * size, 1);

let draws = 0;
function valuesOf({ reads, given = {} }: Case): readonly (Float64Array | undefined)[] {
  return reads.map((shape, place) => {
    draws++;
    const draw = given[place] ?? ((index: number) => normal(draws, index));
    return shape && Float64Array.from({ length: product(shape) }, (_, index) => draw(index));
  });
}

/** Runs a row on an engine's own memory; results begin as `start`. */
function run(
  engine: typeof fast,
  each: Case,
  values: readonly (Float64Array | undefined)[],
  start: number,
  adds: boolean,
) {
  const isLabel = (place: number): boolean =>
    each.given?.[place] !== undefined &&
    each.reads[place]?.length === 1 &&
    place >= 2 &&
    values[place]!.some((one) => one > 40);
  const tensor = (shape: Shape, dtype: 'fp32' | 'int32'): Tensor =>
    wholeTensor(engine.createElements(dtype, product(shape)), shape);
  const reads = each.reads.map((shape, place) => {
    if (!shape) return undefined;
    const made = tensor(shape, isLabel(place) ? 'int32' : 'fp32');
    made.data.set(values[place]!);
    return made;
  });
  const writes = each.writes.map((shape): Tensor => {
    const made = tensor(shape, 'fp32');
    made.data.fill(start);
    return { ...made, adds };
  });
  engine.kernels[each.kernel]({ reads, writes, attributes: each.attributes ?? {}, draw: { seed: 0, firstSample: 0 } });
  engine.endOperation();
  return { writes: writes.map(({ data }) => data) };
}

function expectClose(got: Elements, wanted: Elements, offset = 0): void {
  const largest = Math.max(...Array.from(wanted, Math.abs));
  const worst = Math.max(...Array.from(wanted, (each, index) => Math.abs(each + offset - got[index]!)));
  expect(worst / largest).toBeLessThan(5e-6);
}

describe.each(engines)('fast kernels give what plain ones give: %s', (_name, fast) => {
  test.each(cases)('$kernel of $reads', (each) => {
    const values = valuesOf(each);
    const wanted = run(plain, each, values, Number.NaN, false);
    const got = run(fast, each, values, Number.NaN, false);
    for (const [place, result] of wanted.writes.entries()) expectClose(got.writes[place]!, result);
  });

  test.each(cases.filter(({ kernel }) => fast.addsInPlace(kernel)))('$kernel adds', (each) => {
    const values = valuesOf(each);
    const wanted = run(plain, each, values, 0, false);
    const got = run(fast, each, values, 2, true);
    const first = each.kernel.includes('norm') ? 1 : 0;
    for (const [place, result] of wanted.writes.entries()) {
      expectClose(got.writes[place]!, result, place >= first ? 2 : 0);
    }
  });

  test('attributes that they do not know are left to plain ones, which then add as well', () => {
    const each: Case = { ...cases.find(({ kernel }) => kernel === 'gemm.dw')!, attributes: { news: 1 } };
    const values = valuesOf(each);
    const wanted = run(plain, each, values, 0, false);
    const got = run(fast, each, values, 2, true);
    for (const [place, result] of wanted.writes.entries()) expectClose(got.writes[place]!, result, 2);
  });

  test('the gradient of attention', () => {
    const forward: Case = {
      kernel: 'attention',
      reads: [[S, B, P]],
      writes: [
        [S, B, 48],
        [4, S, B],
      ],
      attributes: heads,
    };
    const values = valuesOf(forward);
    const [o, lse] = run(plain, forward, values, 0, false).writes;
    const backward: Case = {
      kernel: 'attention.dx',
      reads: [
        [S, B, 48],
        [S, B, P],
        [S, B, 48],
        [4, S, B],
      ],
      writes: [[S, B, P]],
      attributes: heads,
    };
    const slope = Float64Array.from({ length: S * B * 48 }, (_, index) => normal(99, index));
    const given = [slope, values[0], Float64Array.from(o!), Float64Array.from(lse!)];
    expectClose(
      run(fast, backward, given, Number.NaN, false).writes[0]!,
      run(plain, backward, given, 0, false).writes[0]!,
    );
  });

  test('operands outside the memory are taken as well', () => {
    const each = cases[0]!;
    const values = valuesOf(each);
    const reads = each.reads.map((shape, place) => shape && wholeTensor(Float32Array.from(values[place]!), shape));
    const data = fast.createElements('fp32', product(each.writes[0]!));
    const writes = [wholeTensor(data, each.writes[0]!)];
    fast.kernels.gemm({ reads, writes, attributes: {}, draw: { seed: 0, firstSample: 0 } });
    fast.endOperation();
    expectClose(data, run(plain, each, values, 0, false).writes[0]!);
  });
});

test('a step of AdamW', () => {
  const length = 30;
  const draw = (seed: number): Float32Array => Float32Array.from({ length }, (_, index) => normal(seed, index));
  const shardOn = (engine: typeof fast) => {
    const put = (values: Float32Array): Float32Array => {
      const made = engine.createElements('fp32', length) as Float32Array;
      made.set(values);
      return made;
    };
    const ranges = [
      { from: 0, length: 13, decay: true, counted: true },
      { from: 13, length: 15, decay: false, counted: true },
    ];
    return {
      ranges,
      gradient: put(draw(1)),
      weight: put(draw(2)),
      master: undefined,
      m: put(draw(3)),
      v: put(draw(4).map(Math.abs)),
    };
  };
  const inputs = { factor: 0.5, learningRate: 0.01, step: 3 };
  const constants = { beta1: 0.9, beta2: 0.95, epsilon: 1e-5, weightDecay: 0.1 };
  const [wanted, got] = [shardOn(plain), shardOn(fast)];
  adamw(wanted, inputs, constants);
  fast.adamw(got, inputs, constants);
  for (const name of ['weight', 'm', 'v'] as const) expectClose(got[name], wanted[name]);
});
