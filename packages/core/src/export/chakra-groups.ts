/** @file Which ranks take part in a collective, as numbered groups. */
import { worldSize } from '../mesh/index.ts';
import { membersOf, type Operation, type Program } from '../program/index.ts';

/** Groups of ranks by number, as strings. */
export interface Groups {
  readonly all: Record<string, readonly number[]>;
  /** Numbers the groups of an exchange. */
  meet(operation: Operation): void;
  /** The number of the group of a rank along an axis or named group. */
  of(over: string, rank: number): string;
}

/** The groups of a program; empty at first. */
export function createGroups(program: Program): Groups {
  const { mesh } = program;
  const all: Record<string, readonly number[]> = {};
  const numbers = new Map<string, string>();
  const of = (over: string, rank: number): string => {
    const members = membersOf(program, rank, over);
    const key = members.join(' ');
    const number = numbers.get(key) ?? `${numbers.size + 1}`;
    numbers.set(key, number);
    all[number] = members;
    return number;
  };
  const met = new Set<string>();
  return {
    all,
    of,
    meet: (operation) => {
      if (operation.kind !== 'collective' || met.has(operation.axis)) return;
      met.add(operation.axis);
      for (let rank = 0; rank < worldSize(mesh); rank++) of(operation.axis, rank);
    },
  };
}
