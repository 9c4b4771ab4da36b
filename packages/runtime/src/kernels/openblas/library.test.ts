import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { normal } from '../../numbers/hash.ts';
import { instantiate } from '../wasm/exports.ts';
import { blasGemm } from './gemm.ts';
import { coreLike, findOpenBlas, missingWords } from './library.ts';

const found = findOpenBlas();

describe('what is missing is said', () => {
  test('the package', () => {
    const missing = findOpenBlas(undefined, () => {
      throw new Error('not installed');
    });
    expect(missing).toMatchObject({ kind: 'missing', what: 'koffi' });
    if (missing.kind === 'missing') expect(missingWords(missing).hint).toContain('npm install koffi@3.3.4');
  });

  test('the library, with the names that were tried', () => {
    const missing = findOpenBlas('/nowhere/libopenblas.so');
    expect(missing).toEqual({ kind: 'missing', what: 'library', tried: ['/nowhere/libopenblas.so'] });
    if (missing.kind === 'missing') expect(missingWords(missing).message).toContain('/nowhere/libopenblas.so');
  });

  test('a library that is another one is none', () => {
    const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
    const other = { ...koffi, load: () => koffi.load(null) } as typeof koffi;
    expect(findOpenBlas('some.so', () => other)).toMatchObject({ kind: 'missing', what: 'library' });
  });
});

test('a processor is like the widest known one whose vectors it has', () => {
  expect(coreLike(new Set(['sse2', 'avx']))).toBeUndefined();
  expect(coreLike(new Set(['avx2', 'fma']))).toBe('Haswell');
  const wide = ['avx512f', 'avx512cd', 'avx512bw', 'avx512dq', 'avx512vl'];
  expect(coreLike(new Set(['avx2', 'fma', ...wide.slice(1)]))).toBe('Haswell');
  expect(coreLike(new Set(['avx2', 'fma', ...wide]))).toBe('SkylakeX');
});

const PACK = 1 << 16;
const [A, B, C, BIAS] = [1 << 21, 2 << 21, 3 << 21, 4 << 21];
const bothForms = [true, false].flatMap((a) => [true, false].map((b) => [a, b] as const));

describe.skipIf(found.kind === 'missing')('products of OpenBLAS, skipped where it is not there', () => {
  const { buffer, kernels } = instantiate(10 << 21);
  const library = found.kind === 'found' ? found.library : undefined;
  const gemm = library ? blasGemm(library, library.addressOf(buffer), kernels) : kernels.gemm;
  const [m, n, k] = [37, 45, 53];
  const at = (place: number, length: number): Float32Array => new Float32Array(buffer, place, length);

  test.each(bothForms)('are those of WebAssembly, A as it lies: %s, B: %s', (plainA, plainB) => {
    at(A, m * k).set(Float32Array.from({ length: m * k }, (_, index) => normal(1, index)));
    at(B, n * k).set(Float32Array.from({ length: n * k }, (_, index) => normal(2, index)));
    at(BIAS, n).set(Float32Array.from({ length: n }, (_, index) => normal(3, index)));
    const a = [A, ...(plainA ? [k, 1] : [1, m])] as [number, number, number];
    const b = [B, ...(plainB ? [n, 1] : [1, k])] as [number, number, number];
    for (const [adds, bias] of [
      [0, 0],
      [1, 0],
      [0, BIAS],
    ] as const) {
      const results = [kernels.gemm, gemm].map((each) => {
        at(C, m * n).fill(adds ? 2 : Number.NaN);
        each(m, n, k, ...a, ...b, C, n, adds, bias, PACK);
        return at(C, m * n).slice();
      });
      const worst = Math.max(...Array.from(results[0]!, (each, index) => Math.abs(each - results[1]![index]!)));
      expect(worst).toBeLessThan(2e-5);
    }
  });

  test('run on vectors of this decade', () => {
    expect(library?.core).not.toBe('Prescott');
  });
});
