/** @file What the ranks of one stage do in a step, operation by operation, as text. */
import type { LayoutRequest } from '@meshwright/core/layout';
import { degreesOf, expandList, sentBytes } from '@meshwright/core/program';
import { whyOf } from '@meshwright/figures';
import type { Scenario } from '../scenario/scenario.ts';
import { compiled } from './detail.ts';

/** Operations that are told; a list has thousands and repeats itself. */
const MOST = 400;

/** One operation in words. */
export interface DoneLine {
  readonly index: number;
  readonly lane: string;
  readonly why: string;
  /** Bytes. */
  readonly sent: number;
}

/** The beginning of a list. */
export interface DoneList {
  readonly lines: readonly DoneLine[];
  readonly all: number;
  readonly note: string;
}

/** The list of a stage, shortened to one micro-batch for each stage. */
export function doneBy(scenario: Scenario, request: LayoutRequest, stage: number): DoneList {
  const { program, shown, all } = compiled(scenario, request, (layout) => layout.pipeline);
  const list = program.lists.find(({ pipeline }) => pipeline === stage) ?? program.lists[0];
  if (!list) return { lines: [], all: 0, note: '' };
  const expanded = expandList(program, list);
  const degrees = degreesOf(program);
  const real = expanded.operations.filter(({ operation }) => operation.kind !== 'mark');
  return {
    lines: real.slice(0, MOST).map((each) => ({
      index: each.index,
      lane: each.operation.lane,
      why: whyOf(expanded, each.index, program.layers),
      sent: each.operation.kind === 'collective' || each.operation.kind === 'send' ? sentBytes(each, degrees) : 0,
    })),
    all: real.length,
    note: shown < all ? `Of ${all} micro-batches ${shown} are told.` : '',
  };
}
