/** @file Who sends how much to whom, over all steps of a collective. Members are numbered from 0. */
import type { CollectiveKind, FlowVisitor } from './types.ts';
import { SWITCH } from './types.ts';

/** Each member to the next one, the last one to the first. */
export function ringFlows(ranks: number, share: number, visit: FlowVisitor): void {
  if (ranks > 1) for (let member = 0; member < ranks; member++) visit(member, (member + 1) % ranks, share);
}

/** Every member to every other one. */
export function pairFlows(ranks: number, share: number, visit: FlowVisitor): void {
  for (let from = 0; from < ranks; from++) {
    for (let to = 0; to < ranks; to++) if (from !== to) visit(from, to, share);
  }
}

/** Parent of a member of a binary tree over `ranks` members; -1 for the root, which is member 0. A member hangs under the
 * one without its lowest bit but with the next higher one, or where that is not there without its lowest bit. */
function parentOf(member: number, ranks: number): number {
  if (member === 0) return -1;
  const bit = member & -member;
  const above = (member ^ bit) | (bit << 1);
  return above < ranks ? above : member ^ bit;
}

/** Parents of the members of two trees, -1 for the roots: who is inside of one is a leaf of the other. The second one is
 * the first one mirrored, or turned by one where the number is odd. */
export function twoTrees(ranks: number): readonly [readonly number[], readonly number[]] {
  const second = (member: number): number => (ranks % 2 === 0 ? ranks - 1 - member : (member + 1) % ranks);
  const first = Array.from({ length: ranks }, (_, member) => parentOf(member, ranks));
  const other = Array.from({ length: ranks }, () => -1);
  for (const [member, parent] of first.entries()) if (parent >= 0) other[second(member)] = second(parent);
  return [first, other];
}

/** Members of two trees, on half of the buffer each. */
export function treeFlows(kind: CollectiveKind, ranks: number, visit: FlowVisitor): void {
  for (const parents of twoTrees(ranks)) {
    for (const [child, above] of parents.entries()) {
      if (above < 0) continue;
      if (kind === 'all-reduce') visit(child, above, 0.5);
      visit(above, child, 0.5);
    }
  }
}

/** Partners at distances 1, 2, 4, ...: halves of what is left are added up, then pieces are gathered the same way back.
 * Members beyond a power of two hand their buffer to one below and get the result from it. */
export function halvingFlows(kind: CollectiveKind, ranks: number, visit: FlowVisitor): void {
  const whole = 2 ** Math.floor(Math.log2(ranks));
  const passes = kind === 'all-reduce' ? 2 : 1;
  for (let distance = 1; distance < whole; distance *= 2) {
    for (let member = 0; member < whole; member++) visit(member, member ^ distance, passes / (2 * distance));
  }
  for (let member = whole; member < ranks; member++) {
    visit(member, member - whole, 1);
    visit(member - whole, member, 1);
  }
}

/** All to the switch and back: it adds up on the way in and copies on the way out. Each member asks for the sum of its own
 * piece and hands the result out to all. */
export function switchFlows(kind: CollectiveKind, ranks: number, visit: FlowVisitor): void {
  if (ranks <= 1) return;
  const piece = 1 / ranks;
  const [up, down] =
    kind === 'all-reduce' ? [1 + piece, 1 + piece] : kind === 'reduce-scatter' ? [1, piece] : [piece, 1];
  for (let member = 0; member < ranks; member++) {
    visit(member, SWITCH, up);
    visit(SWITCH, member, down);
  }
}
