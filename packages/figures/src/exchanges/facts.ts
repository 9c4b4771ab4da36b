/** @file Everything that the figure of exchanges shows, as data: read from the program, its byte ledger and the links. */
import { type ClusterSpec, capacityBytes } from '@meshwright/core/cluster';
import { createPrices, type LinkDescription } from '@meshwright/core/cost';
import { type AxisName, type Coordinate, coordinateOf, groupOf, groupsAlong, worldSize } from '@meshwright/core/mesh';
import {
  bytesSent,
  degreesOf,
  type ExchangeSum,
  expandList,
  type Program,
  type ProgramBytes,
  renderReason,
} from '@meshwright/core/program';
import { chooseRanks } from './choose-ranks.ts';
import { holdingsOf, type Shelf } from './holdings.ts';
import { modelMap } from './model-map.ts';

/** One GPU of the figure. */
export interface GpuFacts {
  readonly rank: number;
  readonly node: number;
  readonly coordinate: Coordinate;
  readonly shelves: readonly Shelf[];
  /** Logits and buffers of exchanges at the peak, in bytes. */
  readonly otherBytes: number;
  readonly peakBytes: number;
}

/** One kind of exchange: what a rank of each list sends in a step. */
export interface ExchangeFacts {
  readonly kind: ExchangeSum['kind'];
  readonly reason: string;
  /** By pipeline coordinate; 0 where a list has none. */
  readonly bytes: readonly number[];
  readonly exchanges: readonly number[];
}

/** The exchanges over one axis or named group. */
export interface AxisFacts {
  readonly name: string;
  readonly axis: AxisName;
  /** Ranks of a group. */
  readonly degree: number;
  readonly groups: number;
  /** Groups with members on more than one node. */
  readonly crossing: number;
  readonly link: LinkDescription;
  /** The groups that shown ranks are in, members in order; only shown ones. */
  readonly shownGroups: readonly (readonly number[])[];
  /** The groups are pairs of neighbours in a row, not rings. */
  readonly chain: boolean;
  /** Largest first. */
  readonly exchanges: readonly ExchangeFacts[];
  /** By pipeline coordinate. */
  readonly bytes: readonly number[];
}

/** The whole figure as data. */
export interface StepFacts {
  readonly program: Program;
  readonly cluster: ClusterSpec;
  readonly world: number;
  readonly capacityBytes: number;
  readonly gpus: readonly GpuFacts[];
  /** Micro-batches that the map of activations has room for. */
  readonly rows: number;
  readonly axes: readonly AxisFacts[];
  readonly sent: ProgramBytes;
}

/** Reads the facts of a step of `program` on `cluster`. */
export function stepFacts(program: Program, cluster: ClusterSpec): StepFacts {
  const degrees = degreesOf(program);
  const lists = program.lists.map((list) => expandList(program, list));
  const map = modelMap(program);
  const holdings = new Map(lists.map((each) => [each.list.pipeline, holdingsOf(each, degrees, map)]));
  const rows = Math.max(1, ...[...holdings.values()].map((each) => each.microBatches.length));
  const shown = chooseRanks(program.mesh);
  const sent = bytesSent(program, lists);
  return {
    program,
    cluster,
    world: worldSize(program.mesh),
    capacityBytes: capacityBytes(cluster),
    gpus: shown.flatMap((rank): readonly GpuFacts[] => {
      const coordinate = coordinateOf(program.mesh, rank);
      const held = holdings.get(coordinate.pipeline);
      if (!held) return [];
      const { parts, peakBytes } = held.memory;
      return [
        {
          rank,
          node: Math.floor(rank / cluster.gpusPerNode),
          coordinate,
          shelves: held.shelves(coordinate, rows),
          otherBytes: parts.logits + parts.buffers,
          peakBytes,
        },
      ];
    }),
    rows,
    axes: axesOf(program, cluster, sent, shown),
    sent,
  };
}

function axesOf(
  program: Program,
  cluster: ClusterSpec,
  sent: ProgramBytes,
  shown: readonly number[],
): readonly AxisFacts[] {
  const prices = createPrices(cluster, program.mesh);
  const degrees = degreesOf(program);
  const names = [...new Set(sent.lists.flatMap((list) => list.exchanges.map(({ over }) => over)))];
  const order = [...program.mesh.axes.map(({ name }) => name as string), ...program.groups.map(({ name }) => name)];
  return names
    .sort((one, other) => order.indexOf(one) - order.indexOf(other))
    .flatMap((name): readonly AxisFacts[] => {
      const group = program.groups.find((each) => each.name === name);
      const axis = group?.along ?? (name as AxisName);
      if (degrees(name) < 2) return [];
      const members = (ranks: readonly number[]): readonly number[] =>
        group ? ranks.filter((rank) => group.coordinates.includes(coordinateOf(program.mesh, rank)[axis])) : ranks;
      const groups = groupsAlong(program.mesh, [axis]).map(members);
      const nodes = (ranks: readonly number[]): number =>
        new Set(ranks.map((rank) => Math.floor(rank / cluster.gpusPerNode))).size;
      const exchanges = exchangesOver(name, sent);
      return [
        {
          name,
          axis,
          degree: degrees(name),
          groups: groups.length,
          crossing: groups.filter((each) => nodes(each) > 1).length,
          link: prices.linkOf([axis], group ? 'ends' : 'all'),
          shownGroups: shownGroups(program, axis, shown, members),
          chain: exchanges.some(({ kind }) => kind === 'send'),
          exchanges,
          bytes: stages(sent).map((stage) => exchanges.reduce((sum, each) => sum + (each.bytes[stage] ?? 0), 0)),
        },
      ];
    });
}

function shownGroups(
  program: Program,
  axis: AxisName,
  shown: readonly number[],
  members: (ranks: readonly number[]) => readonly number[],
): readonly (readonly number[])[] {
  const groups = new Map<number, readonly number[]>();
  for (const rank of shown) {
    const group = members(groupOf(program.mesh, rank, [axis]));
    const [first] = group;
    if (first !== undefined)
      groups.set(
        first,
        group.filter((each) => shown.includes(each)),
      );
  }
  return [...groups.values()].filter((group) => group.length > 1);
}

const stages = ({ lists }: ProgramBytes): readonly number[] => lists.map((_, index) => index);

/** Sums by kind and rule; lists stand in order of their stage. */
function exchangesOver(name: string, sent: ProgramBytes): readonly ExchangeFacts[] {
  const found = new Map<string, ExchangeFacts & { readonly bytes: number[]; readonly exchanges: number[] }>();
  for (const [stage, list] of sent.lists.entries()) {
    for (const { kind, over, rule, bytes, exchanges } of list.exchanges) {
      if (over !== name) continue;
      const key = `${kind} ${rule}`;
      const none = (): number[] => sent.lists.map(() => 0);
      const reason = renderReason({ rule, axis: over });
      const row = found.get(key) ?? { kind, reason, bytes: none(), exchanges: none() };
      row.bytes[stage] = bytes;
      row.exchanges[stage] = exchanges;
      found.set(key, row);
    }
  }
  return [...found.values()].sort((one, other) => Math.max(...other.bytes) - Math.max(...one.bytes));
}
