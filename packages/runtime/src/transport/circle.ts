/** @file One rank's part in a collective: the channels of its group, the pieces in their staging, and the stages that members
 * have come to. A rank's last post of an exchange says that it has read all it needs; the next one in the channel begins
 * when all have.
 */
import type { Elements } from '../kernels/tensor.ts';
import type { Add } from '../kernels/wasm/vector-add.ts';
import type { Channel, Port } from './port.ts';
import { combineInto, type Wire } from './wire.ts';

/** One rank's part in a collective. */
export interface Circle {
  readonly port: Port;
  /** Channels of the group in order of place. */
  readonly channels: readonly Channel[];
  /** Own place in the group. */
  readonly place: number;
  readonly pieceElements: number;
  readonly wire: Wire;
  /** Key of the ledger that bytes are counted under. */
  readonly key: number;
  /** An array of the buffer's type. */
  readonly create: (length: number) => Elements;
  /** A faster sum of float32; absent: a loop. */
  readonly add?: Add;
}

export type Waiting = Generator<void, void, void>;

/** What has been posted before: members begin together, when all have finished what was before in this channel. */
export function* beginTogether(circle: Circle): Generator<void, number, void> {
  const own = circle.channels[circle.place]!;
  const base = own.posted();
  while (circle.channels.some((channel) => channel.posted() < base)) yield;
  return base;
}

/** Says that this rank has come one stage further. */
export function announce({ port, channels, place }: Circle): void {
  channels[place]!.post();
  port.ring(channels.map((channel) => channel.rank));
}

export const wrap = (place: number, ways: number): number => ((place % ways) + ways) % ways;

export function stagePiece(circle: Circle, index: number, values: Elements): void {
  const { memory, offset } = circle.channels[circle.place]!;
  circle.wire.write(memory, offset + index * circle.pieceElements * circle.wire.width, values);
}

/** Pulls a piece from another rank's staging; those are bytes that the other rank sends. The piece may be a view. */
export function pullPiece(circle: Circle, from: number, index: number): Elements {
  const channel = circle.channels[from]!;
  if (from !== circle.place) {
    circle.port.count(channel.rank, circle.key, circle.pieceElements * circle.wire.counted);
  }
  return readPiece(circle, from, index);
}

/** A piece of a rank's staging: as it lies there, or a copy where it travels in another form. */
export function readPiece({ channels, pieceElements, wire, create }: Circle, from: number, index: number): Elements {
  const { memory, offset } = channels[from]!;
  const at = offset + index * pieceElements * wire.width;
  if (wire.view) return wire.view(memory, at, pieceElements);
  const values = create(pieceElements);
  wire.read(memory, at, values);
  return values;
}

/** Waits until a member has posted `count` stages. */
export function* until(circle: Circle, place: number, count: number): Waiting {
  while (circle.channels[place]!.posted() < count) yield;
}

/** `own` and the same piece of others, each there when its rank has posted `count` stages, added up in the own staging. */
export function* addParts(
  circle: Circle,
  index: number,
  own: Elements,
  members: readonly number[],
  count: number,
  reduce: 'sum' | 'max',
): Waiting {
  const { place, wire, pieceElements, create, add } = circle;
  const sum = wire.view ? readPiece(circle, place, index) : create(pieceElements);
  let left = own;
  for (const member of members) {
    yield* until(circle, member, count);
    combineInto(sum, left, pullPiece(circle, member, index), reduce, add);
    left = sum;
  }
  if (!wire.view || members.length === 0) stagePiece(circle, index, left);
}

/** Is given a complete piece, which lies where others may still read it: it must not be written. */
export type TakePiece = (index: number, piece: Elements) => void;
