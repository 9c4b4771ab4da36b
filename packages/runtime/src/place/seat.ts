/** @file Where a rank sits: its place on every axis and in every named group of the program. */
import { assertInvariant } from '@meshwright/core/errors';
import { type Coordinate, coordinateOf } from '@meshwright/core/mesh';
import { bookedAxis, degreesOf, membersOf, type Program, type RankList } from '@meshwright/core/program';
import type { Degrees } from '@meshwright/core/tensor';

export interface Seat {
  readonly rank: number;
  readonly coordinate: Coordinate;
  readonly degrees: Degrees;
  /** The axis that an axis or named group lies along. */
  readonly along: (over: string) => string;
  /** Place on an axis or in a named group, from 0. */
  readonly indexOn: (over: string) => number;
  /** Ranks of the rank's group over an axis or named group, in order of place. */
  readonly members: (over: string) => readonly number[];
}

export function seatOf(program: Program, rank: number): Seat {
  const { mesh } = program;
  const coordinate = coordinateOf(mesh, rank);
  const known = new Map<string, readonly number[]>();
  const members = (over: string): readonly number[] => {
    const found = known.get(over) ?? membersOf(program, rank, over);
    known.set(over, found);
    return found;
  };
  return {
    rank,
    coordinate,
    degrees: degreesOf(program),
    along: (over) => bookedAxis(program, over),
    indexOn: (over) => members(over).indexOf(rank),
    members,
  };
}

/** The list that a rank executes. */
export function listOf(program: Program, seat: Seat): RankList {
  const list = program.lists.find((each) => each.pipeline === seat.coordinate.pipeline);
  assertInvariant(list !== undefined, () => `no list for pipeline coordinate ${seat.coordinate.pipeline}`);
  return list;
}
