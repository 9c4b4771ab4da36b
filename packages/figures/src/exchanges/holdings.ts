/** @file What a GPU holds when it holds most, and which part of the model that is: read from the lifetimes of its list. */
import { type ListMemory, memoryOfList } from '@meshwright/core/memory';
import type { Coordinate } from '@meshwright/core/mesh';
import { aliveAt, type ExpandedList, type LiveRange, lifetimesOf } from '@meshwright/core/program';
import { cutAxes, type Degrees } from '@meshwright/core/tensor';
import type { MemoryRole } from '../palette/index.ts';
import { joined, type ModelMap, type Stretch } from './model-map.ts';

/** A filled part of the map of the model: shares of its width (blocks) and height (slices of the tensor axis, or
 * micro-batches). */
export interface Area {
  readonly x: Stretch;
  readonly y: Stretch;
}

/** One kind of thing that a GPU holds. */
export interface Shelf {
  readonly role: MemoryRole;
  readonly bytes: number;
  readonly areas: readonly Area[];
}

/** What the ranks of one list hold at the peak; only the areas depend on the coordinate. */
export interface ListHoldings {
  readonly memory: ListMemory;
  /** Micro-batches whose activations are alive at the peak, ascending. */
  readonly microBatches: readonly number[];
  /** Weights, gradients, optimizer, activations. `rows` is the height of the map of activations in micro-batches. */
  shelves(coordinate: Coordinate, rows: number): readonly Shelf[];
}

/** Roles of buffers that lie in buckets, with the shelf that they stand on. */
const kept = [
  ['weight', 'weights'],
  ['gradient', 'gradients'],
  ['optimizer', 'optimizer'],
] as const;

/** Holdings of the ranks of `expanded` at its peak. */
export function holdingsOf(expanded: ExpandedList, degrees: Degrees, map: ModelMap): ListHoldings {
  const lifetimes = lifetimesOf(expanded, degrees);
  const blocks = new Set(expanded.list.buckets.flatMap((bucket) => bucket.views.map((view) => view.block)));
  const memory = memoryOfList(expanded, lifetimes);
  const alive = aliveAt(lifetimes, memory.peakIndex);
  const activations = alive
    .filter(({ instance }) => instance.declaration.role === 'activation')
    .flatMap((each) => placeOf(each, blocks));
  const microBatches = [...new Set(activations.map((each) => each.microBatch))].sort((a, b) => a - b);
  return {
    memory,
    microBatches,
    shelves: (coordinate, rows) => [
      ...kept.map(
        ([role, shelf]): Shelf => ({
          role: shelf,
          bytes: memory.parts[shelf],
          areas: parameterAreas(
            alive.filter(({ instance }) => instance.declaration.role === role),
            expanded,
            coordinate,
            degrees,
            map,
          ),
        }),
      ),
      {
        role: 'activations',
        bytes: memory.parts.activations,
        areas: microBatches.flatMap((microBatch, row) => {
          const blocks = activations.filter((each) => each.microBatch === microBatch).map(({ block }) => block);
          const y: Stretch = [row / rows, (row + 1) / rows];
          return joined([...new Set(blocks)].map(map.ofBlock)).map((x) => ({ x, y }));
        }),
      },
    ],
  };
}

/** Buffers that are cut over data are one part of what they cover; a tensor rank holds one slice. */
function parameterAreas(
  ranges: readonly LiveRange[],
  { list }: ExpandedList,
  coordinate: Coordinate,
  degrees: Degrees,
  map: ModelMap,
): readonly Area[] {
  const whole: Stretch[] = [];
  const cut: Stretch[] = [];
  for (const { instance } of ranges) {
    const bucket = list.buckets.find(({ name }) => name === instance.declaration.bucket);
    if (!bucket) continue;
    (cutAxes(instance.declaration.dims).includes('data') ? cut : whole).push(...map.ofBucket(bucket));
  }
  const share = 1 / degrees('data');
  const shards = joined(cut).map(([from, to]): Stretch => {
    const start = from + (to - from) * share * coordinate.data;
    return [start, start + (to - from) * share];
  });
  const slice = 1 / degrees('tensor');
  const y: Stretch = [coordinate.tensor * slice, (coordinate.tensor + 1) * slice];
  return [...joined(whole), ...shards].map((x) => ({ x, y }));
}

interface ActivationPlace {
  readonly block: number;
  readonly microBatch: number;
}

/** Block and micro-batch of an activation, from the indices in its name: `n1[2,0]`, `x3[0]`. A boundary belongs to the
 * block that it enters, or to the one that it leaves where the other is not in this list. */
function placeOf({ instance }: LiveRange, blocks: ReadonlySet<number>): readonly ActivationPlace[] {
  const [, boundary, block, microBatch] = /(\d+)?\[(?:(-?\d+),)?(\d+)\]$/.exec(instance.name) ?? [];
  if (instance.declaration.scope === 'block') return [{ block: Number(block), microBatch: Number(microBatch) }];
  if (instance.declaration.scope !== 'boundary') return [];
  const entered = Number(boundary);
  return [{ block: blocks.has(entered) ? entered : entered - 1, microBatch: Number(microBatch) }];
}
