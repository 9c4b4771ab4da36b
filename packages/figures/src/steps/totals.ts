/** @file Bytes of the whole period by axis, counted in the program and by the closed forms. */
import { bytesSent, type ExpandedList, type Program } from '@meshwright/core/program';

/** Bytes that a rank of a list sends in the whole period on one axis: counted in the program, and by the law. */
export interface AxisTotal {
  readonly axis: string;
  readonly counted: number;
  readonly law: number | undefined;
}

/** Bytes that a rank of a stage sends, by axis. */
export interface StageLaw {
  readonly stage: number;
  readonly lines: readonly { readonly axis: string; readonly bytes: number }[];
}

/** What a count is held against. */
export interface Laws {
  /** Bytes by law of each stage. */
  readonly law?: readonly StageLaw[];
  /** Axes that the law knows; all when absent. What is sent on another one has no closed form. */
  readonly lawAxes?: readonly string[];
}

/** The totals of each list. */
export function totalsOf(
  program: Program,
  lists: readonly ExpandedList[],
  { law, lawAxes }: Laws,
): readonly (readonly AxisTotal[])[] {
  return bytesSent(program, lists).lists.map(({ byAxis }, index) => {
    const stage = law?.find((each) => each.stage === program.lists[index]?.pipeline);
    return Object.entries(byAxis).map(([axis, { bytes }]) => ({
      axis,
      counted: bytes,
      law:
        lawAxes === undefined || lawAxes.includes(axis)
          ? stage?.lines.filter((line) => line.axis === axis).reduce((sum, line) => sum + line.bytes, 0)
          : undefined,
    }));
  });
}
