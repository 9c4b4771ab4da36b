/** @file All-to-alls: whole heads for whole tokens.
 *
 * The law: an all-to-all over an axis or group makes one dim whole that it cuts innermost, and cuts one other dim innermost
 * in its place; nothing else changes. Where a group is a part of its axis (neighbours that swap heads), the dim stays cut by
 * the other part.
 */
import type { Dim } from '../../tensor/index.ts';
import { type ExpandedOperation, type Operand, partOf } from '../expand.ts';
import type { Collective, Program } from '../types.ts';
import { cutOf, cutWords, sameAxes } from './partial.ts';
import type { Walk } from './walk.ts';

/** Reports an all-to-all whose operands do not show one dim gathered and one cut. */
export function checkMoved(
  walk: Walk,
  expanded: ExpandedOperation,
  { axis, dim }: Collective,
  read: Operand,
  written: Operand,
): void {
  const cuts = ({ dims }: Operand): readonly (readonly string[])[] =>
    dims.map((each: Dim) => cutOf(each, walk.degrees));
  const [before, after] = [cuts(read), cuts(written)];
  const changed = before.flatMap((cut, at) => (sameAxes(cut, after[at] ?? []) ? [] : [at]));
  const [gathered, others] = [
    changed.filter((at) => read.dims[at]?.label === dim),
    changed.filter((at) => read.dims[at]?.label !== dim),
  ];
  const moves = (at: number | undefined, from: typeof before, to: typeof before): boolean =>
    at !== undefined && sameAxes(withoutInner(walk.program, from[at] ?? [], axis) ?? ['?'], to[at] ?? []);
  if (
    gathered.length === 1 &&
    others.length === 1 &&
    moves(gathered[0], before, after) &&
    moves(others[0], after, before)
  )
    return;
  walk.find(expanded, {
    code: 'CUTS_DISAGREE',
    message: `An all-to-all over ${axis} gathers ${dim ?? 'no dim'} and cuts another: ${words(read, before)} -> ${words(written, after)} does not show that.`,
    hint: 'Declare one dim cut innermost before and another after.',
  });
}

const words = ({ instance }: Operand, cuts: readonly (readonly string[])[]): string =>
  `${instance.name} (${cuts.map(cutWords).join('; ')})`;

/** What is left of a cut when its innermost axis or group is gathered over; undefined where that does not cut it. */
function withoutInner(program: Program, cut: readonly string[], over: string): readonly string[] | undefined {
  const inner = cut.at(-1);
  if (inner === over) return cut.slice(0, -1);
  const part = partOf(program, over);
  if (part?.other === undefined || inner !== part.axis) return undefined;
  return [...cut.slice(0, -1), part.other];
}
