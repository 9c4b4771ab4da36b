/** @file Named groups and axes alike: how many ranks take part in an exchange, which, and along which axes. */
import {
  type AxisName,
  coordinateOf,
  degreeOf,
  expertRankOf,
  gridOf,
  groupOf,
  type Mesh,
  rankOf,
} from '../mesh/index.ts';
import type { Degrees } from '../tensor/index.ts';
import type { Group, Program } from './types.ts';

/** What groups are looked up in. */
type Grouped = Pick<Program, 'mesh' | 'groups'>;

const groupNamed = ({ groups }: Grouped, name: string): Group | undefined => groups.find((each) => each.name === name);

/** Ranks of a group. */
const ranksOf = (mesh: Mesh, { coordinates, joint = [] }: Group): number =>
  joint.reduce((ranks, axis) => ranks * degreeOf(mesh, axis), coordinates.length);

/** Degree of an axis or of a named group in a program. */
export function degreesOf(program: Grouped): Degrees {
  const groups = new Map(program.groups.map((group) => [group.name, ranksOf(program.mesh, group)]));
  return (axis) => groups.get(axis) ?? degreeOf(program.mesh, axis as AxisName);
}

/** A named group is booked on the axis that it lies along. */
export const bookedAxis = (program: Pick<Program, 'groups'>, over: string): string =>
  program.groups.find((group) => group.name === over)?.along ?? over;

/** The axes that an exchange over `over` reduces or cuts, those of one rank left out: itself, but for a group that joins
 * whole axes.
 */
export function spanOf(program: Grouped, over: string): readonly string[] {
  const group = groupNamed(program, over);
  if (group?.joint === undefined) return [over];
  const joint = group.joint.filter((axis) => degreeOf(program.mesh, axis) > 1);
  if (group.coordinates.length === 1) return joint;
  return [group.repeats ? (partLike(program, group)?.name ?? group.name) : group.along, ...joint];
}

/** The group of one axis alone that takes the same coordinates of it. */
const partLike = ({ groups }: Grouped, { along, coordinates }: Group): Group | undefined =>
  groups.find(
    (each) =>
      each.repeats &&
      each.joint === undefined &&
      each.along === along &&
      each.coordinates.length === coordinates.length &&
      each.coordinates[1] === coordinates[1],
  );

/** An axis of which a group is a part, and the group that makes it up together with this one. */
export function partOf(
  program: Grouped,
  over: string,
): { readonly axis: string; readonly other: string | undefined } | undefined {
  const group = groupNamed(program, over);
  if (!group?.repeats || group.joint !== undefined) return undefined;
  const others = degreeOf(program.mesh, group.along) / group.coordinates.length;
  const [, second = 1] = group.coordinates;
  // The inner one of the two takes neighbours, the outer one every so-manieth.
  const step = second === 1 ? group.coordinates.length : 1;
  const other = program.groups.find(
    (each) =>
      each.repeats &&
      each.joint === undefined &&
      each.along === group.along &&
      each.coordinates.length === others &&
      each.coordinates[1] === step,
  );
  return { axis: group.along, other: other?.name };
}

/** Ranks of the group of `rank` over an axis or named group, in ascending order; their order is that of their places. */
export function membersOf(program: Grouped, rank: number, over: string): readonly number[] {
  const { mesh } = program;
  const group = groupNamed(program, over);
  if (group === undefined) return groupOf(mesh, rank, [over as AxisName]);
  const coordinate = coordinateOf(mesh, rank);
  const rankAt = gridOf(mesh, group.along) === mesh.axes ? rankOf : expertRankOf;
  let members = placesOf(group, coordinate[group.along]).map((place) =>
    rankAt(mesh, { ...coordinate, [group.along]: place }),
  );
  for (const axis of group.joint ?? []) {
    members = members.flatMap((member) =>
      Array.from({ length: degreeOf(mesh, axis) }, (_, place) =>
        rankOf(mesh, { ...coordinateOf(mesh, member), [axis]: place }),
      ),
    );
  }
  return members.sort((a, b) => a - b);
}

/** Coordinates of the group in which `own` is: the group itself, or the one of its repetitions that holds it. */
function placesOf({ coordinates, repeats }: Group, own: number): readonly number[] {
  if (repeats === undefined) return coordinates;
  const [first = 0, second = first + 1] = coordinates;
  const step = second - first;
  const shift = own - (Math.floor(own / step) % coordinates.length) * step;
  return coordinates.map((place) => place + shift);
}
