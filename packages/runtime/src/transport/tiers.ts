/** @file Collectives in two tiers: `inner` neighbours by place share a node. A node's members first reduce (or, last, gather)
 * among themselves; those that stand alike in their nodes do the same across on 1 / inner of the buffer. So what crosses
 * nodes is least, and a rank sends what it sends in a ring.
 *
 * Sums begin with a rank's own part and go on round its node, or over the nodes, from the next one on.
 */
import type { Elements } from '../kernels/tensor.ts';
import {
  addParts,
  announce,
  beginTogether,
  type Circle,
  pullPiece,
  readPiece,
  stagePiece,
  type TakePiece,
  until,
  type Waiting,
  wrap,
} from './circle.ts';

/** A rank's part in a collective of two tiers. */
export interface Tiers extends Circle {
  /** Members of a node. */
  readonly inner: number;
}

/** The others in one's node, from the next one on. */
const inNode = ({ place, inner }: Tiers): readonly number[] =>
  Array.from({ length: inner - 1 }, (_, step) => place - (place % inner) + wrap(place + 1 + step, inner));

/** Those who stand alike in the other nodes, from the next one on. */
const acrossNodes = ({ place, inner, channels }: Tiers): readonly number[] =>
  Array.from({ length: channels.length / inner - 1 }, (_, step) => wrap(place + (1 + step) * inner, channels.length));

/** Places, and so pieces, that stand in their nodes as `place` does. */
const alike = ({ inner, channels }: Tiers, place: number): readonly number[] =>
  Array.from({ length: channels.length / inner }, (_, node) => node * inner + (place % inner));

/** All pieces go in; the rank's own piece comes out, reduced. */
export function* tieredReduceScatter(
  tiers: Tiers,
  pieces: readonly Elements[],
  reduce: 'sum' | 'max',
  take: TakePiece,
): Waiting {
  const base = yield* beginTogether(tiers);
  yield* reduceTiers(tiers, base, pieces, reduce);
  take(tiers.place, readPiece(tiers, tiers.place, tiers.place));
}

/** The rank's own piece goes in; all pieces come out. */
export function* tieredAllGather(tiers: Tiers, own: Elements, take: TakePiece): Waiting {
  const base = yield* beginTogether(tiers);
  stagePiece(tiers, tiers.place, own);
  announce(tiers);
  yield* gatherTiers(tiers, base + 1, take);
}

/** Reduce-scatter, then all-gather, over the same staging. */
export function* tieredAllReduce(
  tiers: Tiers,
  pieces: readonly Elements[],
  reduce: 'sum' | 'max',
  take: TakePiece,
): Waiting {
  const base = yield* beginTogether(tiers);
  yield* reduceTiers(tiers, base, pieces, reduce);
  yield* gatherTiers(tiers, base + STAGES_OF_REDUCTION, take);
}

const STAGES_OF_REDUCTION = 3;

/** Leaves the rank's own piece, reduced, at its place of the staging. Three stages. */
function* reduceTiers(tiers: Tiers, base: number, pieces: readonly Elements[], reduce: 'sum' | 'max'): Waiting {
  const { place, inner } = tiers;
  for (const [index, piece] of pieces.entries()) if (index % inner !== place % inner) stagePiece(tiers, index, piece);
  announce(tiers);
  for (const index of alike(tiers, place))
    yield* addParts(tiers, index, pieces[index]!, inNode(tiers), base + 1, reduce);
  announce(tiers);
  yield* addParts(tiers, place, readPiece(tiers, place, place), acrossNodes(tiers), base + 2, reduce);
  announce(tiers);
}

/** From own pieces that are complete once their ranks have posted `count` stages: across nodes, then inside. Two stages. A
 * piece is put where its own rank, and nobody else, has read a part of it before it was complete.
 */
function* gatherTiers(tiers: Tiers, count: number, take: TakePiece): Waiting {
  const { place } = tiers;
  for (const member of acrossNodes(tiers)) {
    yield* until(tiers, member, count);
    stagePiece(tiers, member, pullPiece(tiers, member, member));
  }
  announce(tiers);
  for (const index of alike(tiers, place)) take(index, readPiece(tiers, place, index));
  for (const member of inNode(tiers)) {
    yield* until(tiers, member, count + 1);
    for (const index of alike(tiers, member)) take(index, pullPiece(tiers, member, index));
  }
  announce(tiers);
}

/** Everybody has a piece for everybody, by place of the receiver. In the node all goes to the one who stands there as the
 * receiver stands in its own, in the second half of the staging; then across.
 */
export function* tieredAllToAll(tiers: Tiers, pieces: readonly Elements[], take: TakePiece): Waiting {
  const { place, inner, channels } = tiers;
  const ranks = channels.length;
  const base = yield* beginTogether(tiers);
  for (const [index, piece] of pieces.entries()) stagePiece(tiers, index, piece);
  announce(tiers);
  for (const member of [place, ...inNode(tiers)]) {
    yield* until(tiers, member, base + 1);
    for (const index of alike(tiers, place)) {
      const sender = index - (index % inner) + (member % inner);
      stagePiece(tiers, ranks + sender, pullPiece(tiers, member, index));
    }
  }
  announce(tiers);
  const node = place - (place % inner);
  for (const member of [place, ...acrossNodes(tiers)]) {
    yield* until(tiers, member, base + 2);
    for (let at = 0; at < inner; at++) {
      take(member - (member % inner) + at, pullPiece(tiers, member, ranks + node + at));
    }
  }
  announce(tiers);
}
