/** @file Who sends to whom in a step, how much, and in how many messages one after the other. */
import { algorithms } from '@meshwright/core/collectives';
import { rankOf } from '@meshwright/core/mesh';
import {
  type Collective,
  degreesOf,
  type ExpandedList,
  membersOf,
  type Program,
  sentBytes,
} from '@meshwright/core/program';
import type { OrderedStep } from './order.ts';
import type { StageGpu } from './script.ts';

/** From one shown rank to another. */
export interface Link {
  readonly from: number;
  readonly to: number;
  /** Sent over this link in the whole exchange. */
  readonly bytes: number;
  /** The two sit on different nodes. */
  readonly crosses: boolean;
  /** Ranks between the two are not shown. */
  readonly elided: boolean;
}

/** An exchange, or nothing for computing. */
export interface Told {
  readonly links: readonly Link[];
  /** Bytes that a rank of each list sends and receives. */
  readonly sent: ReadonlyMap<number, number>;
  readonly received: ReadonlyMap<number, number>;
  readonly hops: number;
}

const nothing: Told = { links: [], sent: new Map(), received: new Map(), hops: 1 };

/** The links of a step between the shown GPUs. */
export function linksOf(
  program: Program,
  lists: readonly ExpandedList[],
  step: OrderedStep,
  gpus: readonly StageGpu[],
): Told {
  if (step.key === 'compute') return nothing;
  const degrees = degreesOf(program);
  const sent = new Map<number, number>();
  const received = new Map<number, number>();
  const links = new Map<string, Link>();
  const add = (map: Map<number, number>, list: number, bytes: number): void =>
    void map.set(list, (map.get(list) ?? 0) + bytes);
  let hops = 1;
  for (const { list, operations } of step.parts) {
    const expanded = lists[list]?.operations[operations[0] ?? 0];
    if (!expanded) continue;
    const bytes = sentBytes(expanded, degrees);
    add(sent, list, bytes);
    const { operation } = expanded;
    if (operation.kind === 'send') {
      const peer = lists.findIndex(({ list: each }) => each.pipeline === operation.peer);
      add(received, peer, bytes);
    } else add(received, list, bytes);
    if (operation.kind === 'collective') {
      hops = Math.max(hops, hopsOf(operation, degrees(operation.axis)));
    }
    for (const gpu of gpus) {
      if (gpu.list !== list) continue;
      const targets =
        operation.kind === 'send'
          ? peersOf(program, gpu, operation.peer)
          : operation.kind === 'collective'
            ? membersAfter(program, gpu, operation, gpus)
            : [];
      const targetCount = Math.max(1, targets.length);
      for (const { rank, elided } of targets) {
        const to = gpus.find((each) => each.rank === rank);
        if (!to) continue;
        const share = operation.kind === 'collective' && spreads(operation) ? bytes / targetCount : bytes;
        links.set(`${gpu.rank}-${rank}`, {
          from: gpu.rank,
          to: rank,
          bytes: share,
          crosses: gpu.node !== to.node,
          elided,
        });
      }
    }
  }
  return { links: [...links.values()], sent, received, hops };
}

/** Everybody to everybody, instead of neighbour to neighbour. */
const spreads = ({ algorithm, collective }: Collective): boolean =>
  algorithm === 'direct' || collective === 'all-to-all';

interface Target {
  readonly rank: number;
  readonly elided: boolean;
}

const peersOf = (program: Program, { coordinate }: StageGpu, peer: number): readonly Target[] => [
  { rank: rankOf(program.mesh, { ...coordinate, pipeline: peer }), elided: false },
];

/** Messages of a collective that wait for each other. A shift around a circle is one. */
export const hopsOf = ({ algorithm, collective }: Collective, degree: number): number =>
  collective === 'shift' ? Math.min(1, degree - 1) : algorithms[algorithm].steps(collective, degree);

/** The next shown member of the ring, or all other shown members. */
function membersAfter(
  program: Program,
  { rank }: StageGpu,
  operation: Collective,
  gpus: readonly StageGpu[],
): readonly Target[] {
  const members = membersOf(program, rank, operation.axis);
  const shown = members.filter((each) => gpus.some((gpu) => gpu.rank === each));
  const others = shown.filter((each) => each !== rank);
  if (spreads(operation)) return others.map((each) => ({ rank: each, elided: false }));
  const next = shown[(shown.indexOf(rank) + 1) % shown.length];
  if (next === undefined || next === rank) return [];
  const neighbour = members[(members.indexOf(rank) + 1) % members.length];
  return [{ rank: next, elided: neighbour !== next }];
}
