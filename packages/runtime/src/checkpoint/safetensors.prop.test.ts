import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { eachRow, elementsOfRuns, runsOf } from './runs.ts';
import { type NamedTensor, readSafetensors, safetensorsChunks, storedValues } from './safetensors.ts';

const shapes = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 3 });

test('the rows of the runs of ascending indices are those indices', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 60 })), (drawn) => {
      const indices = drawn.sort((one, other) => one - other);
      const runs = runsOf(indices);
      const back: number[] = [];
      eachRow(runs, (start, length, from) => {
        expect(from).toBe(back.length);
        for (let each = 0; each < length; each++) back.push(start + each);
      });
      expect(back).toEqual(indices);
      expect(elementsOfRuns(runs)).toBe(indices.length);
    }),
  );
});

test('a rectangle is one run', () => {
  const rows = [2, 3, 4].flatMap((row) => [10 * row + 5, 10 * row + 6]);
  expect(runsOf(rows)).toEqual([[25, 2, 10, 3]]);
});

describe('safetensors', () => {
  const fileOf = (tensors: readonly NamedTensor[]) =>
    new Uint8Array(Buffer.concat([...safetensorsChunks(tensors, { format: 'pt' })]));

  test('what is written is read', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), shapes), fc.boolean(), (named, wide) => {
        const tensors = Object.entries(named).flatMap(([name, shape]): readonly NamedTensor[] => {
          if (name === '__metadata__' || name === '__proto__') return [];
          const size = shape.reduce((product, each) => product * each, 1);
          const values = Array.from({ length: size }, (_, index) => index + 0.1);
          return [{ name, shape, data: wide ? Float64Array.from(values) : Float32Array.from(values) }];
        });
        const bytes = fileOf(tensors);
        const { tensors: found, issues } = readSafetensors(bytes, 'x');
        expect(issues).toEqual([]);
        expect(found.map(({ name, shape }) => [name, shape])).toEqual(
          expect.arrayContaining(tensors.map(({ name, shape }) => [name, shape])),
        );
        for (const { name, data } of tensors) {
          const stored = found.find((each) => each.name === name)!;
          expect(storedValues(bytes, stored)).toEqual(data);
        }
      }),
    );
  });

  test('halves of both kinds are widened', () => {
    const file = (dtype: string, halves: readonly number[]): Uint8Array => {
      const header = JSON.stringify({ w: { dtype, shape: [halves.length], data_offsets: [0, 2 * halves.length] } });
      const head = new Uint8Array(8);
      new DataView(head.buffer).setBigUint64(0, BigInt(header.length), true);
      const body = new Uint8Array(Uint16Array.from(halves).buffer);
      return new Uint8Array(Buffer.concat([head, new TextEncoder().encode(header), body]));
    };
    const valuesOf = (bytes: Uint8Array) => [...storedValues(bytes, readSafetensors(bytes, 'x').tensors[0]!)];
    expect(valuesOf(file('F16', [0x3c00, 0xc000, 0x0001, 0x7c00, 0x3555]))).toEqual([
      1,
      -2,
      2 ** -24,
      Infinity,
      0.333251953125,
    ]);
    expect(valuesOf(file('BF16', [0x3f80, 0xc000, 0x3eab]))).toEqual([1, -2, 0.333984375]);
  });

  test('a header that claims more than there is is refused', () => {
    const bytes = fileOf([{ name: 'w', shape: [2], data: Float32Array.of(1, 2) }]);
    new DataView(bytes.buffer).setBigUint64(0, 2n ** 60n, true);
    expect(readSafetensors(bytes, 'w.safetensors').issues[0]?.message).toMatch(/header of 1152921504606846976 bytes/);
  });
});
