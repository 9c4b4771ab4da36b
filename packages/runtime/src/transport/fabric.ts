/** @file The shared memory of a run: one control area, one staging area for each rank, one ledger of bytes. Where every
 * channel lies in them is planned once from the program, as plain data that all threads are given.
 *
 * A channel is one lane of a rank towards one group (collectives) or one peer (sends). Lanes are in order, so a channel
 * has one exchange in flight and its staging can be sized by its largest one.
 */
import {
  bookedAxis,
  type Collective,
  type ExpandedList,
  type ExpandedOperation,
  type Program,
  routedDim,
  rowWidth,
} from '@meshwright/core/program';
import { type Dim, type DType, localElements } from '@meshwright/core/tensor';
import { waysOf } from '../place/dims.ts';
import { operandsOf, pieceMapOf } from '../place/pieces.ts';
import { listOf, type Seat, seatOf } from '../place/seat.ts';
import { type Arithmetic, wireOf } from './wire.ts';

/** Where a channel lies. */
export interface ChannelPlace {
  /** First of {@link CHANNEL_WORDS} words of the control area. */
  readonly control: number;
  /** First byte of the rank's staging area. */
  readonly staging: number;
}

/** One kind of exchange whose bytes are counted together. */
export interface LedgerKey {
  readonly kind: string;
  /** Axis or named group. */
  readonly over: string;
  /** The axis that it is booked on. */
  readonly axis: string;
  readonly rule: string;
}

export interface FabricPlan {
  readonly ranks: number;
  /** By rank, then by name of the channel. */
  readonly channels: readonly Readonly<Record<string, ChannelPlace>>[];
  readonly stagingBytes: readonly number[];
  readonly controlWords: number;
  readonly ledger: readonly LedgerKey[];
}

export interface FabricMemory {
  readonly control: SharedArrayBuffer;
  readonly staging: readonly SharedArrayBuffer[];
  /** 64-bit counters, by rank, then by key of the ledger. */
  readonly ledger: SharedArrayBuffer;
}

/** posted, consumed, tag, ledger key. */
const CHANNEL_WORDS = 4;
/** The control area begins with a word that is set when a rank has failed and one that says how far steps have begun;
 * then come a bell and a progress word for each rank. */
const HEAD_WORDS = 2;
export const FAILED_WORD = 0;
export const BEGUN_WORD = 1;
export const bellWord = (rank: number): number => HEAD_WORDS + 2 * rank;
export const progressWord = (rank: number): number => HEAD_WORDS + 2 * rank + 1;

export const collectiveChannel = (lane: string, over: string): string => `${lane}|${over}`;
export const sendChannel = (lane: string, peer: number): string => `${lane}>${peer}`;
/** The channel on which the stage `self` is sent what it receives on `lane`. */
export const incomingChannel = (lane: string, self: number): string => sendChannel(lane.replace('.in', '.out'), self);
export const ledgerName = (kind: string, over: string, rule: string): string => `${kind} ${over} ${rule}`;

export function planFabric(
  program: Program,
  lists: readonly ExpandedList[],
  ranks: number,
  arithmetic: Arithmetic,
): FabricPlan {
  let controlWords = HEAD_WORDS + 2 * ranks;
  const channels: Record<string, ChannelPlace>[] = [];
  const stagingBytes: number[] = [];
  for (let rank = 0; rank < ranks; rank++) {
    const seat = seatOf(program, rank);
    const list = lists.find((each) => each.list.name === listOf(program, seat).name);
    const places: Record<string, ChannelPlace> = {};
    let staging = 0;
    for (const [name, bytes] of channelBytes(list?.operations ?? [], seat, arithmetic)) {
      places[name] = { control: controlWords, staging };
      controlWords += CHANNEL_WORDS;
      staging += Math.ceil(bytes / 8) * 8;
    }
    channels.push(places);
    stagingBytes.push(staging);
  }
  return { ranks, channels, stagingBytes, controlWords, ledger: ledgerOf(program, lists) };
}

export const createFabricMemory = (plan: FabricPlan): FabricMemory => ({
  control: new SharedArrayBuffer(4 * plan.controlWords),
  staging: plan.stagingBytes.map((bytes) => new SharedArrayBuffer(bytes)),
  ledger: new SharedArrayBuffer(8 * plan.ranks * plan.ledger.length),
});

/** The largest staging that each channel of a list needs, in bytes. */
function channelBytes(
  operations: readonly ExpandedOperation[],
  seat: Seat,
  arithmetic: Arithmetic,
): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>();
  const widthOf = (dtype: DType): number => wireOf(dtype, arithmetic).width;
  for (const each of operations) {
    const { operation } = each;
    if (operation.kind === 'send') {
      const [read] = each.reads;
      const elements = read ? localElements(read.dims, seat.degrees) : 0;
      const bytes = elements * widthOf(read?.instance.declaration.dtype ?? 'fp32');
      grow(sizes, sendChannel(operation.lane, operation.peer), bytes);
    } else if (operation.kind === 'collective') {
      const { read } = operandsOf(each);
      const elements = mostRows(read.dims, seat) ?? allPieces(each, operation, seat);
      const bytes = elements * widthOf(read.instance.declaration.dtype);
      grow(sizes, collectiveChannel(operation.lane, operation.axis), bytes);
    }
  }
  return sizes;
}

const allPieces = (expanded: ExpandedOperation, operation: Collective, seat: Seat): number => {
  const { ways, pieceElements } = pieceMapOf(expanded, operation, seat);
  return passesOn(operation) * ways * pieceElements;
};

/** Two tiers of an all-to-all keep what passes through them beside what they send. */
const passesOn = ({ collective, algorithm }: Collective): number =>
  collective === 'all-to-all' && algorithm === 'hierarchical' ? 2 : 1;

/** Elements of routed rows on one rank if all of them chose its experts; undefined for what is no buffer of rows. */
function mostRows(dims: readonly Dim[], seat: Seat): number | undefined {
  const rows = routedDim(dims);
  return rows && (rows.size / waysOf(rows, seat)) * rowWidth(dims, seat.degrees);
}

const grow = (sizes: Map<string, number>, name: string, bytes: number): void =>
  void sizes.set(name, Math.max(sizes.get(name) ?? 0, bytes));

function ledgerOf(program: Program, lists: readonly ExpandedList[]): readonly LedgerKey[] {
  const keys = new Map<string, LedgerKey>();
  for (const { operations } of lists) {
    for (const { operation } of operations) {
      if (operation.kind !== 'send' && operation.kind !== 'collective') continue;
      const kind = operation.kind === 'send' ? 'send' : operation.collective;
      const over = operation.kind === 'send' ? 'pipeline' : operation.axis;
      const { rule } = operation.why;
      keys.set(ledgerName(kind, over, rule), { kind, over, axis: bookedAxis(program, over), rule });
    }
  }
  return [...keys.values()];
}
