/** @file Where the ranks of a group sit: how many share a block of neighbouring ranks (a link domain, a node). */
import { type AxisName, gridOf, type Mesh } from '../mesh/index.ts';

/** Bit of each axis in a mask of axes; `ENDS` says that only the two ends of the axis take part. */
export const axisBits: Readonly<Record<AxisName, number>> = {
  tensor: 1,
  context: 2,
  expert: 4,
  data: 8,
  pipeline: 16,
  expertTensor: 64,
  expertData: 128,
};
export const ENDS = 32;
/** Values that a mask can take. */
export const MASKS = 256;
/** Axes of the expert grid only. */
const EXPERT_GRID = axisBits.expertTensor | axisBits.expert | axisBits.expertData;

/** The axes of a group with the distance between neighbours. */
export interface GroupAxes {
  readonly degrees: readonly number[];
  readonly strides: readonly number[];
  /** The same with `ends` taken out: what the axis would be whole. */
  readonly fullDegrees: readonly number[];
  readonly ranks: number;
}

/** Of one axis only so many coordinates, so far apart: it is made of such groups. */
export interface PartOfAxis {
  readonly axis: AxisName;
  readonly count: number;
  readonly step: number;
}

export function groupAxes(mesh: Mesh, mask: number, part?: PartOfAxis): GroupAxes {
  const degrees: number[] = [];
  const fullDegrees: number[] = [];
  const strides: number[] = [];
  let stride = 1;
  let ranks = 1;
  const grid = (mask & EXPERT_GRID) === 0 ? mesh.axes : gridOf(mesh, 'expert');
  for (const axis of grid) {
    if (part?.axis === axis.name) {
      if (part.count > 1) {
        degrees.push(part.count);
        fullDegrees.push(part.count);
        strides.push(stride * part.step);
        ranks *= part.count;
      }
    } else if ((axisBits[axis.name] & mask) !== 0 && axis.degree > 1) {
      const isEnds = (mask & ENDS) !== 0;
      degrees.push(isEnds ? 2 : axis.degree);
      fullDegrees.push(axis.degree);
      strides.push(isEnds ? stride * (axis.degree - 1) : stride);
      ranks *= isEnds ? 2 : axis.degree;
    }
    stride *= axis.degree;
  }
  return { degrees, strides, fullDegrees, ranks };
}

/** Members of a group in one block of `size` neighbouring ranks, and blocks that the group reaches: those of the worst
 * group where blocks and groups do not tile each other. */
export interface Spread {
  readonly members: number;
  readonly blocks: number;
}

export function spreadOver(group: GroupAxes, size: number, world: number): Spread {
  let members = 1;
  for (let i = 0; i < group.degrees.length; i++) {
    const degree = group.degrees[i] ?? 1;
    const full = group.fullDegrees[i] ?? 1;
    const stride = degree === full ? (group.strides[i] ?? 1) : (group.strides[i] ?? 1) / (full - 1);
    if (stride % size === 0) continue;
    if (size % (stride * full) === 0) members *= degree;
    else if (size % stride === 0 && (stride * full) % size === 0) members *= degree === full ? size / stride : 1;
    else return worstSpread(group, size, world);
  }
  return { members, blocks: group.ranks / members };
}

/** Groups that are looked at one by one; patterns of real clusters repeat much earlier. */
const LOOKED_AT = 64;

function worstSpread(group: GroupAxes, size: number, world: number): Spread {
  const counts = new Int32Array(Math.ceil(world / size));
  const offsets = offsetsOf(group);
  let members = group.ranks;
  let blocks = 1;
  for (let base = 0, seen = 0; base < world && seen < LOOKED_AT; base++) {
    if (!startsGroup(group, base)) continue;
    seen += 1;
    counts.fill(0);
    for (const offset of offsets) {
      const block = Math.floor((base + offset) / size);
      counts[block] = (counts[block] ?? 0) + 1;
    }
    let reached = 0;
    for (const count of counts) {
      if (count === 0) continue;
      reached += 1;
      members = Math.min(members, count);
    }
    blocks = Math.max(blocks, reached);
  }
  return { members, blocks };
}

function offsetsOf(group: GroupAxes): readonly number[] {
  let offsets = [0];
  group.degrees.forEach((degree, i) => {
    const stride = group.strides[i] ?? 1;
    offsets = Array.from({ length: degree }, (_, index) => offsets.map((offset) => offset + index * stride)).flat();
  });
  return offsets;
}

/** The rank has coordinate 0 on every axis of the group. */
function startsGroup(group: GroupAxes, rank: number): boolean {
  return group.strides.every((stride, i) => {
    const full = group.fullDegrees[i] ?? 1;
    const step = group.degrees[i] === full ? stride : stride / (full - 1);
    return Math.floor(rank / step) % full === 0;
  });
}

/** A send to the next coordinate leaves a block of `size` ranks for at least one neighbour pair. */
export function sendLeaves(stride: number, degree: number, size: number): boolean {
  return size % (stride * degree) !== 0;
}
