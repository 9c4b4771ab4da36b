/** @file Where a rank sits: its place on every axis and in every named group of the program. */
import { assertInvariant } from '@meshwright/core/errors';
import { type AxisName, type Coordinate, coordinateOf, groupOf, rankOf } from '@meshwright/core/mesh';
import { degreesOf, type Program, type RankList } from '@meshwright/core/program';
import type { Degrees } from '@meshwright/core/tensor';

export interface Seat {
  readonly rank: number;
  readonly coordinate: Coordinate;
  readonly degrees: Degrees;
  /** Place on an axis or in a named group, from 0. */
  readonly indexOn: (over: string) => number;
  /** Ranks of the rank's group over an axis or named group, in order of place. */
  readonly members: (over: string) => readonly number[];
}

export function seatOf(program: Program, rank: number): Seat {
  const { mesh } = program;
  const coordinate = coordinateOf(mesh, rank);
  const groups = new Map(program.groups.map((group) => [group.name, group]));
  const members = new Map<string, readonly number[]>();
  const membersOf = (over: string): readonly number[] => {
    const group = groups.get(over);
    if (!group) return groupOf(mesh, rank, [over as AxisName]);
    return group.coordinates.map((place) => rankOf(mesh, { ...coordinate, [group.along]: place }));
  };
  return {
    rank,
    coordinate,
    degrees: degreesOf(program),
    indexOn: (over) => {
      const group = groups.get(over);
      return group ? group.coordinates.indexOf(coordinate[group.along]) : coordinate[over as AxisName];
    },
    members: (over) => {
      const known = members.get(over) ?? membersOf(over);
      members.set(over, known);
      return known;
    },
  };
}

/** The list that a rank executes. */
export function listOf(program: Program, seat: Seat): RankList {
  const list = program.lists.find((each) => each.pipeline === seat.coordinate.pipeline);
  assertInvariant(list !== undefined, () => `no list for pipeline coordinate ${seat.coordinate.pipeline}`);
  return list;
}
