/** @file Lanes and the in-order queues on them as small numbers. */
import { assertInvariant } from '../errors/index.ts';
import type { Lane, Operation, Replay } from '../program/index.ts';

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
  context: 11,
  expert: 12,
  'data.replicate': 13,
  'host.out': 14,
  'host.update': 15,
  'host.in': 16,
};

/** Lanes by code. */
export const laneNames: readonly Lane[] = (Object.keys(codes) as Lane[]).sort((a, b) => codes[a] - codes[b]);

/** Of lanes and of queues. */
export const HOST_QUEUE = 0;
export const COMPUTE_LANE = 1;
export const CONTROL_LANE = 10;

/** The lane that an operation takes its turn on; what only the host does is on the host's. */
export function laneCode(operation: Operation): number {
  switch (operation.kind) {
    case 'compute':
    case 'collective':
    case 'send':
    case 'recv':
      return codes[operation.lane];
    default:
      return HOST_QUEUE;
  }
}

/** The in-order queues of a list as numbers from 0. */
export interface Queues {
  readonly count: number;
  /** By sample of the list. */
  readonly of: Uint8Array;
}

/** Numbers the queues of a list: a lane is one queue, a lane between stages one for each peer. The first of each lane has
 * the code of the lane. */
export function queuesOf({ samples, list }: Replay): Queues {
  const of = new Uint8Array(samples.length);
  const codeOf = new Map<number, number>();
  const taken = new Uint8Array(laneNames.length);
  let count = laneNames.length;
  for (const [index, { operation }] of samples.entries()) {
    const lane = laneCode(operation);
    const peer = operation.kind === 'send' || operation.kind === 'recv' ? operation.peer : 0;
    const key = peer * laneNames.length + lane;
    let code = codeOf.get(key);
    if (code === undefined) {
      code = taken[lane] === 0 ? lane : count++;
      taken[lane] = 1;
      codeOf.set(key, code);
      assertInvariant(count <= 256, () => `${list.name} has more than 256 queues`);
    }
    of[index] = code;
  }
  return { count, of };
}
