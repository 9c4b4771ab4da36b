/** @file Which rank writes which elements of which Hugging Face tensor: every element once, by the lowest rank that owns it.
 * Found from the program alone, so whatever cuts a tensor, its pieces are found.
 */
import { assertInvariant } from '@meshwright/core/errors';
import { worldSize } from '@meshwright/core/mesh';
import type { Program } from '@meshwright/core/program';
import { elementFinder, ownedBuffer, ownedDims, ownedRanges } from '../place/parameters.ts';
import { listOf, seatOf } from '../place/seat.ts';
import { type Run, runsOf } from './runs.ts';

/** The part of a tensor that a rank writes. */
export interface Placed {
  readonly tensor: string;
  readonly shape: readonly number[];
  readonly bucket: string;
  /** It is not trained: the optimizer remembers nothing of it. */
  readonly frozen: boolean;
  /** The job holds it in bf16, and nobody holds more of it. */
  readonly narrow: boolean;
  readonly runs: readonly Run[];
  /** Where each element lies in the rank's shard of the bucket, in the order of the runs. */
  readonly at: Int32Array<SharedArrayBuffer>;
}

/** By rank. */
export type Placement = readonly (readonly Placed[])[];

/** Elements that a rank owns of one tensor. */
interface Owned {
  readonly shape: readonly number[];
  readonly bucket: string;
  readonly frozen: boolean;
  readonly narrow: boolean;
  readonly indices: number[];
  readonly at: number[];
}

/** Who writes what. Elements that nobody owns are an error of the program. */
export function placementOf(program: Program): Placement {
  const taken = new Map<string, Uint8Array>();
  const placement = Array.from({ length: worldSize(program.mesh) }, (_, rank) =>
    [...ownedBy(program, rank)].flatMap(([tensor, owned]) => placed(tensor, owned, taken)),
  );
  for (const [tensor, elements] of taken) {
    assertInvariant(!elements.includes(0), () => `no rank owns all of ${tensor}`);
  }
  return placement;
}

/** The shape of every tensor of a placement. */
export const shapesOf = (placement: Placement): ReadonlyMap<string, readonly number[]> =>
  new Map(placement.flatMap((own) => own.map(({ tensor, shape }) => [tensor, shape] as const)));

/** Tensors that are not trained. */
export const frozenOf = (placement: Placement): readonly string[] => [
  ...new Set(placement.flatMap((own) => own.flatMap(({ tensor, frozen }) => (frozen ? [tensor] : [])))),
];

function ownedBy(program: Program, rank: number): ReadonlyMap<string, Owned> {
  const seat = seatOf(program, rank);
  const list = listOf(program, seat);
  const tensors = new Map<string, Owned>();
  for (const bucket of list.buckets) {
    const frozen = bucket.frozen === true;
    const narrow = frozen && ownedBuffer(list, bucket)?.dtype === 'bf16';
    for (const { view, viewFrom, from, length } of ownedRanges(bucket, ownedDims(list, bucket), seat)) {
      const find = elementFinder(view, seat);
      for (let each = 0; each < length; each++) {
        const element = find(viewFrom + each);
        if (!element) continue;
        const { name, shape } = element.tensor;
        const known = tensors.get(name) ?? {
          shape,
          bucket: bucket.name,
          frozen,
          narrow,
          indices: [],
          at: [],
        };
        if (known.indices.length === 0) tensors.set(name, known);
        if (known.bucket !== bucket.name) continue;
        known.indices.push(element.index);
        known.at.push(from + each);
      }
    }
  }
  return tensors;
}

/** What is left of a tensor for this rank; takes it. */
function placed(
  tensor: string,
  { shape, bucket, frozen, narrow, indices, at }: Owned,
  taken: Map<string, Uint8Array>,
): readonly Placed[] {
  const elements = shape.reduce((product, size) => product * size, 1);
  const known = taken.get(tensor) ?? new Uint8Array(elements);
  taken.set(tensor, known);
  const order = Int32Array.from(indices.keys()).filter((each) => known[indices[each]!] === 0);
  if (order.length === 0) return [];
  order.sort((one, other) => indices[one]! - indices[other]!);
  const places = new Int32Array(new SharedArrayBuffer(4 * order.length));
  order.forEach((each, place) => {
    places[place] = at[each]!;
    known[indices[each]!] = 1;
  });
  const runs = runsOf(Int32Array.from(order, (each) => indices[each]!));
  return [{ tensor, shape, bucket, frozen, narrow, runs, at: places }];
}
