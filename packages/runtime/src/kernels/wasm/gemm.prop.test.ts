import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Build, hasRelaxedVectors, instantiate } from './exports.ts';

const PACK = 1 << 16;
const OPERANDS = 1 << 20;
const ROOM = 2 << 20;

/** Sizes about the panels of 4, 5, 6 and 8, and beyond the blocks of 100 or 120 rows, 256 depths and 512 columns. */
const small = fc.integer({ min: 1, max: 33 });
const sizes = fc.oneof(
  fc.tuple(small, small, small),
  fc.tuple(fc.integer({ min: 95, max: 130 }), small, small),
  fc.tuple(small, fc.integer({ min: 505, max: 530 }), fc.integer({ min: 1, max: 8 })),
  fc.tuple(small, small, fc.integer({ min: 250, max: 264 })),
);
const strides = fc.record({ aAlong: fc.boolean(), bAlong: fc.boolean(), gap: fc.integer({ min: 0, max: 3 }) });

test.each<Build>(['portable', 'relaxed'])('a product of any sizes and strides is the sum of its terms: %s', (build) => {
  if (build === 'relaxed' && !hasRelaxedVectors()) return;
  const { buffer, kernels } = instantiate(OPERANDS + 3 * ROOM, build);
  const [a, b, c] = [0, 1, 2].map((place) => new Float32Array(buffer, OPERANDS + place * ROOM, ROOM / 4));
  const bias = new Float32Array(buffer, OPERANDS - 4096, 1024);
  for (let i = 0; i < ROOM / 4; i++) [a![i], b![i]] = [((i * 7) % 13) - 6, ((i * 5) % 11) - 5];
  for (let i = 0; i < 1024; i++) bias[i] = (i % 9) - 4;
  const law = fc.property(
    sizes,
    strides,
    fc.boolean(),
    fc.boolean(),
    ([m, n, k], { aAlong, bAlong, gap }, adds, has) => {
      const [aRow, aColumn] = aAlong ? [k + gap, 1] : [1, m + gap];
      const [bRow, bColumn] = bAlong ? [n + gap, 1] : [1, k + gap];
      const cRow = n + gap;
      c!.fill(3, 0, m * cRow + 8);
      const from = [a!.byteOffset, aRow, aColumn, b!.byteOffset, bRow, bColumn] as const;
      kernels.gemm(m, n, k, ...from, c!.byteOffset, cRow, adds ? 1 : 0, has ? bias.byteOffset : 0, PACK);
      for (let i = 0; i < m; i++) {
        for (let j = 0; j < cRow; j++) {
          let wanted = j < n ? (adds ? 3 : 0) + (has ? bias[j]! : 0) : 3;
          if (j < n) for (let p = 0; p < k; p++) wanted += a![i * aRow + p * aColumn]! * b![p * bRow + j * bColumn]!;
          if (c![i * cRow + j] !== wanted) throw new Error(`row ${i}, column ${j}: ${c![i * cRow + j]}, not ${wanted}`);
        }
      }
      expect(c![m * cRow]).toBe(3);
    },
  );
  fc.assert(law, { numRuns: 150, seed: 5 });
});
