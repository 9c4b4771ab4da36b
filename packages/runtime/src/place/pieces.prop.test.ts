import fc from 'fast-check';
import { expect, test } from 'vitest';
import { packPiece, pieceMap, segmentsOf, unpackPiece } from './pieces.ts';

const parts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 3 });
const ways = fc.integer({ min: 1, max: 5 });

test('the segments of all pieces cover each element of the whole once', () => {
  fc.assert(
    fc.property(parts, ways, (sizes, count) => {
      const whole = sizes.reduce((sum, size) => sum + size, 0);
      const seen = new Array<number>(whole).fill(0);
      for (let index = 0; index < count; index++) {
        for (const { whole: start, length } of segmentsOf(sizes, count, index)) {
          for (let place = start; place < start + length; place++) seen[place]! += 1;
        }
      }
      expect(seen).toEqual(new Array<number>(whole).fill(1));
    }),
  );
});

test('pieces that are packed and unpacked give the whole back', () => {
  fc.assert(
    fc.property(
      parts,
      ways,
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 3 }),
      (sizes, count, outer, inner) => {
        const wholeSize = sizes.reduce((sum, size) => sum + size, 0);
        const map = pieceMap(sizes, count, outer, inner);
        const whole = Float32Array.from({ length: outer * wholeSize * inner }, (_, index) => index + 1);
        const back = new Float32Array(whole.length);
        for (let index = 0; index < count; index++) {
          const piece = packPiece(map, index, whole, (length) => new Float32Array(length));
          expect(piece.length).toBe(map.pieceElements);
          unpackPiece(map, index, piece, back);
        }
        expect(back).toEqual(whole);
      },
    ),
  );
});
