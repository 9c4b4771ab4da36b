/** @file The script of the step-through figure: one period of a program as a row of steps, in plain data that can be
 * sent to another thread. `state.ts` answers what is on stage after any of them.
 */
import { type ClusterSpec, capacityBytes } from '@meshwright/core/cluster';
import type { Layout } from '@meshwright/core/layout';
import { type Coordinate, coordinateOf, degreeOf, worldSize } from '@meshwright/core/mesh';
import { degreesOf, type ExpandedList, expandList, type Program } from '@meshwright/core/program';
import type { Recording } from '@meshwright/core/timeline';
import { chooseRanks } from '../exchanges/choose-ranks.ts';
import { layoutWords } from '../svg/words.ts';
import { type Snapshot, snapshots } from './holdings.ts';
import { type Link, linksOf } from './links.ts';
import { type OrderedStep, orderSteps } from './order.ts';
import { type MeasuredStep, measuredSteps } from './replay.ts';
import { type Schedule, scheduleOf } from './schedule.ts';
import { type AxisTotal, type Laws, totalsOf } from './totals.ts';
import { type Caption, captionBook, type Phase, type Sum, sumOf } from './words.ts';

/** A GPU on stage. */
export interface StageGpu {
  readonly rank: number;
  readonly node: number;
  readonly coordinate: Coordinate;
  /** Index of its list. */
  readonly list: number;
}

/** What one list has done after a step. */
export interface ListState {
  /** Index of what it holds, in the snapshots of the list. */
  readonly held: number;
  /** Bytes that a rank has sent and received since the start of the period. */
  readonly sent: number;
  readonly received: number;
  /** Slots of computing in which it had nothing to compute, so far. */
  readonly waited: number;
  /** What it does in this step, or waits for. */
  readonly doing: string;
  readonly active: boolean;
}

/** One step: computing, or one exchange. */
export interface ScriptStep {
  readonly slot: number;
  readonly phase: Phase;
  readonly kind: 'compute' | 'collective' | 'send';
  readonly caption: Caption;
  /** Block of the first part: the layer that a jump to the next layer looks at. */
  readonly block: number | undefined;
  /** Messages one after the other; 1 for computing. */
  readonly hops: number;
  readonly links: readonly Link[];
  /** What a rank of a group sends in this exchange, as the closed form with its numbers. */
  readonly sum: Sum | undefined;
  readonly lists: readonly ListState[];
  /** What a run did; undefined where the script is that of a program alone. */
  readonly measured?: MeasuredStep;
}

/** A whole period, told. */
export interface StepScript {
  readonly name: string;
  readonly layout: string;
  readonly world: number;
  readonly gpusPerNode: number;
  readonly nodes: number;
  /** Names of the links inside a node and between nodes. */
  readonly links: { readonly inside: string; readonly between: string };
  readonly capacityBytes: number;
  readonly layers: number;
  readonly microBatches: number;
  /** Coordinates differ on these axes only. */
  readonly axes: readonly (keyof Coordinate)[];
  readonly gpus: readonly StageGpu[];
  readonly snapshots: readonly (readonly Snapshot[])[];
  /** What is there before the first step. */
  readonly opening: readonly ListState[];
  readonly steps: readonly ScriptStep[];
  readonly schedule: Schedule | undefined;
  /** By list. */
  readonly totals: readonly (readonly AxisTotal[])[];
  /** The fullest moment of any list, in bytes. */
  readonly peakBytes: number;
}

/** What a script may be told beside the program. */
export interface ScriptOptions extends Laws {
  /** What the data ranks share out; named in the layout. */
  readonly sharding?: Layout['sharding'];
  /** A step of a run of this program: it is told in the order that was measured, with what was measured. */
  readonly recording?: Recording;
}

/** Writes the script of one period of `program` on `cluster`. */
export function stepScript(program: Program, cluster: ClusterSpec, options: ScriptOptions = {}): StepScript {
  const lists = program.lists.map((list) => expandList(program, list));
  const gpus = stageGpus(program, cluster);
  const holds = lists.map((list) => snapshotBook(list, program));
  const planned = orderSteps(program, lists);
  const { recording } = options;
  const run = recording && measuredSteps(program, lists, planned, gpus, recording);
  const { opening, steps } = tellSteps({
    program,
    lists,
    gpus,
    ordered: run?.order ?? planned,
    hold: (list, cursor) => holds[list]?.hold(cursor) ?? 0,
  });
  const snapshotsOfLists = holds.map(({ kept }) => kept);
  return {
    name: program.name,
    layout: `${layoutOf(program)}${stateWords[options.sharding ?? 0]}`,
    world: worldSize(program.mesh),
    gpusPerNode: cluster.gpusPerNode,
    nodes: new Set(gpus.map(({ node }) => node)).size,
    links: { inside: cluster.intra.name, between: cluster.inter.name },
    capacityBytes: capacityBytes(cluster),
    layers: program.layers,
    microBatches: program.microBatches,
    axes: program.mesh.axes.filter(({ degree }) => degree > 1).map(({ name }) => name),
    gpus,
    snapshots: snapshotsOfLists,
    opening,
    steps: run ? steps.map((step, index) => withMeasured(step, run.steps[index])) : steps,
    // The strip has whole slots; a run has times.
    schedule: run ? undefined : scheduleOf(program, lists),
    totals: totalsOf(program, lists, options),
    peakBytes: Math.max(...snapshotsOfLists.flat().map(({ total }) => total)),
  };
}

const withMeasured = (step: ScriptStep, measured: MeasuredStep | undefined): ScriptStep =>
  measured ? { ...step, links: measured.links, measured } : step;

/** What the data ranks share out, by ZeRO. */
const stateWords = ['', ' (sharded optimizer)', ' (sharded gradients)', ' (sharded state)'] as const;

/** Degrees of both grids in words. */
function layoutOf({ mesh }: Program): string {
  const experts = degreeOf(mesh, 'expert');
  return `${layoutWords(mesh)}${experts > 1 ? ` \u00b7 expert ${experts}` : ''}`;
}

function stageGpus(program: Program, cluster: ClusterSpec): readonly StageGpu[] {
  return chooseRanks(program.mesh).map((rank) => {
    const coordinate = coordinateOf(program.mesh, rank);
    const list = program.lists.findIndex(({ pipeline }) => pipeline === coordinate.pipeline);
    return { rank, node: Math.floor(rank / cluster.gpusPerNode), coordinate, list };
  });
}

interface SnapshotBook {
  readonly kept: Snapshot[];
  /** Index of the snapshot after operation `cursor`. */
  hold(cursor: number): number;
}

function snapshotBook(list: ExpandedList, program: Program): SnapshotBook {
  const at = snapshots(list, degreesOf(program), program.layers);
  const kept: Snapshot[] = [];
  const known = new Map<number, number>();
  return {
    kept,
    hold: (cursor) => {
      const found = known.get(cursor) ?? kept.push(at(cursor)) - 1;
      known.set(cursor, found);
      return found;
    },
  };
}

interface Telling {
  readonly program: Program;
  readonly lists: readonly ExpandedList[];
  readonly gpus: readonly StageGpu[];
  readonly ordered: readonly OrderedStep[];
  hold(list: number, cursor: number): number;
}

function tellSteps({ program, lists, gpus, ordered, hold }: Telling): Pick<StepScript, 'opening' | 'steps'> {
  const cursors = lists.map(() => -1);
  const done = lists.map((list) => new Uint8Array(list.operations.length));
  let states: readonly ListState[] = lists.map((_, list) => ({
    held: hold(list, -1),
    sent: 0,
    received: 0,
    waited: 0,
    doing: 'has not begun',
    active: false,
  }));
  const opening = states;
  const seen = { backward: false, tail: false };
  const captionOf = captionBook(program, lists);
  const steps = ordered.map((step): ScriptStep => {
    const told = linksOf(program, lists, step, gpus);
    for (const { list, operations } of step.parts) {
      for (const each of operations) (done[list] as Uint8Array)[each] = 1;
      cursors[list] = Math.max(cursors[list] ?? -1, ...operations);
    }
    const caption = captionOf(step, seen);
    states = states.map((state, list): ListState => {
      const active = step.parts.some((part) => part.list === list);
      const idle = step.key === 'compute' && !active && caption.phase !== 'update';
      return {
        held: hold(list, cursors[list] ?? -1),
        sent: state.sent + (told.sent.get(list) ?? 0),
        received: state.received + (told.received.get(list) ?? 0),
        waited: state.waited + (idle ? 1 : 0),
        doing: caption.doing(list, done[list] as Uint8Array),
        active,
      };
    });
    const [first] = step.parts;
    const block = first && lists[first.list]?.operations[first.operations[0] ?? 0]?.block;
    return {
      slot: step.slot,
      phase: caption.phase,
      kind: step.key === 'compute' ? 'compute' : step.key.startsWith('send') ? 'send' : 'collective',
      caption: caption.caption,
      block,
      hops: told.hops,
      links: told.links,
      sum: sumOf(program, lists, step),
      lists: states,
    };
  });
  return { opening, steps };
}
