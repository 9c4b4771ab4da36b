/** @file Lanes as small numbers. */
import type { Lane, Operation } from '../program/index.ts';

const codes: Readonly<Record<Lane, number>> = {
  host: 0,
  compute: 1,
  tensor: 2,
  'data.gather': 3,
  'data.reduce': 4,
  ends: 5,
  'act.out': 6,
  'act.in': 7,
  'grad.out': 8,
  'grad.in': 9,
  control: 10,
};

/** Lanes by code. */
export const laneNames: readonly Lane[] = (Object.keys(codes) as Lane[]).sort((a, b) => codes[a] - codes[b]);

export const HOST_LANE = 0;
export const COMPUTE_LANE = 1;

/** The lane that an operation takes its turn on; what only the host does is on the host's. */
export function laneCode(operation: Operation): number {
  switch (operation.kind) {
    case 'compute':
    case 'collective':
    case 'send':
    case 'recv':
      return codes[operation.lane];
    default:
      return HOST_LANE;
  }
}
