import { createMesh } from '@meshwright/core/mesh';
import type { Bucket, Program, View } from '@meshwright/core/program';
import { expect, test } from 'vitest';
import { elementFinder, ownedRanges } from './parameters.ts';
import { seatOf } from './seat.ts';

const program: Program = {
  schema: 'meshwright.program/1',
  name: 'places',
  mesh: createMesh({ tensor: 2, data: 2 }),
  groups: [],
  layers: 1,
  microBatches: 1,
  lossScale: 1,
  optimizer: 'sgd',
  buffers: [],
  templates: [],
  lists: [],
};

/** Query, key and value fused, cut by tensor part by part; rank 1 has tensor coordinate 1. */
const fused: View = {
  name: 'qkv.w',
  block: 0,
  offset: 0,
  dims: [
    { label: 'qkv', size: 8, cut: ['tensor'], parts: [4, 2, 2] },
    { label: 'h', size: 3 },
  ],
  tensors: ['q', 'k', 'v'].map((name) => ({ name, shape: [name === 'q' ? 4 : 2, 3] })),
  decay: true,
  counted: [],
};

test('a cut fused parameter finds the rows of each of its tensors', () => {
  const find = elementFinder(fused, seatOf(program, 1));
  const firsts = [0, 1, 2, 3].map((row) => find(row * 3)).map((element) => [element?.tensor.name, element?.index]);
  expect(firsts).toEqual([
    ['q', 6],
    ['q', 9],
    ['k', 3],
    ['v', 3],
  ]);
});

test('a transposed tensor is stored input first', () => {
  const view: View = {
    ...fused,
    dims: [
      { label: 'n', size: 4 },
      { label: 'k', size: 3 },
    ],
    tensors: [{ name: 'c', shape: [3, 4], transposed: true }],
  };
  const find = elementFinder(view, seatOf(program, 0));
  expect(find(1 * 3 + 2)?.index).toBe(2 * 4 + 1);
});

test('padding of a dim that the axis does not divide belongs to no tensor', () => {
  const view: View = {
    ...fused,
    dims: [{ label: 'v', size: 5, cut: ['tensor'] }],
    tensors: [{ name: 'w', shape: [5] }],
  };
  const find = elementFinder(view, seatOf(program, 1));
  expect([0, 1, 2].map((place) => find(place)?.index)).toEqual([3, 4, undefined]);
});

test('a shard owns the overlap of its part with each view, and counts by coordinate', () => {
  const vector = (name: string, offset: number, size: number): View => ({
    ...fused,
    name,
    offset,
    dims: [{ label: 'h', size }],
    counted: name === 'a' ? [{ axis: 'tensor', coordinate: 0 }] : [],
  });
  const bucket: Bucket = { name: 'b', elements: 10, summed: 0, views: [vector('a', 0, 7), vector('b', 7, 3)] };
  const ranges = ownedRanges(bucket, [{ label: 'n', size: 10, cut: ['data'] }], seatOf(program, 3));
  expect(
    ranges.map(({ view, viewFrom, from, length, counted }) => [view.name, viewFrom, from, length, counted]),
  ).toEqual([
    ['a', 5, 0, 2, false],
    ['b', 0, 2, 3, true],
  ]);
});
