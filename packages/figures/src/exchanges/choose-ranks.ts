/** @file Which ranks stand for all: eight that differ on every axis, neighbours where an axis is long. */
import { type Coordinate, type DenseAxis, degreeOf, type Mesh, rankOf, worldSize } from '@meshwright/core/mesh';

const MOST = 8;
/** Long axes are shown by two coordinates at first; more when others are short. In this order. */
const preference: readonly DenseAxis[] = ['tensor', 'pipeline', 'data', 'context'];

/** At most eight ranks in ascending order; all of them when there are not more. */
export function chooseRanks(mesh: Mesh): readonly number[] {
  if (worldSize(mesh) <= MOST) return Array.from({ length: worldSize(mesh) }, (_, rank) => rank);
  const picks: Record<DenseAxis, number> = { tensor: 1, context: 1, expert: 1, data: 1, pipeline: 1 };
  for (let grew = true; grew; ) {
    grew = false;
    for (const axis of preference) {
      const more = Math.min(degreeOf(mesh, axis), picks[axis] * 2);
      const product = Object.values(picks).reduce((all, each) => all * each, 1);
      if (more === picks[axis] || (product / picks[axis]) * more > MOST) continue;
      picks[axis] = more;
      grew = true;
    }
  }
  let coordinates: readonly Partial<Coordinate>[] = [{}];
  for (const axis of preference) {
    const values = chosen(degreeOf(mesh, axis), picks[axis]);
    coordinates = coordinates.flatMap((known) => values.map((value) => ({ ...known, [axis]: value })));
  }
  return coordinates.map((each) => rankOf(mesh, each)).sort((a, b) => a - b);
}

/** `count` coordinates of an axis of `degree`: the first half from its beginning, the rest from its end. */
function chosen(degree: number, count: number): readonly number[] {
  const first = Math.ceil(count / 2);
  return Array.from({ length: count }, (_, index) => (index < first ? index : degree - count + index));
}
