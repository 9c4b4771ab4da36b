/** @file What the compute lane of a list waited for while it was idle. */
import { assertUnreachable } from '../errors/index.ts';
import { bookedAxis, type ExpandedOperation, type Program, replayOf } from '../program/index.ts';
import { bindingOf } from './binding.ts';
import { lastOperation } from './critical-path.ts';
import { COMPUTE_LANE } from './lanes.ts';
import type { SimulatedStep } from './types.ts';

/** Why the compute lane is idle. `pipelineSend`: a transfer between stages runs. `bubble`: a transfer or sum between
 * stages waits for its partner. The axes: one of their exchanges runs. `host`: the host is late. */
export type IdlePart = 'tensor' | 'context' | 'expert' | 'data' | 'pipelineSend' | 'bubble' | 'host' | 'offload';

/** One stretch of idle time. */
export interface Idle {
  readonly part: IdlePart;
  readonly seconds: number;
  /** Index, in its list, of the operation that ran or waited for its partner; undefined for the issue by the host. */
  readonly operation: number | undefined;
}

/** Calls `visit` for every stretch in which the compute lane of `list` is idle, from time 0 to `until`.
 *
 * A gap is walked back from its end: what the next operation waited for takes the time that it ran, then what that one
 * waited for, until the gap is used up; from where an exchange waits for another list, the rest is bubble. */
export function visitIdle(step: SimulatedStep, list: number, until: number, visit: (idle: Idle) => void): void {
  const { graph, start, end } = step;
  const base = graph.base[list] as number;
  const to = graph.base[list + 1] as number;
  let free = 0;
  for (let at = base; at < to; at++) {
    if (graph.lane[at] !== COMPUTE_LANE) continue;
    walkBack(step, list, at, start[at] as number, free, visit);
    free = end[at] as number;
  }
  const last = lastOperation(step, list);
  if (last < 0) return;
  const stop = end[last] as number;
  if (until > stop) visit({ part: 'bubble', seconds: until - stop, operation: undefined });
  if (stop > free) walkBack(step, list, last, took(step, list, last, stop, free, visit), free, visit);
}

/** Shares out the time from `from` to `until`, at which `at` starts. */
function walkBack(
  step: SimulatedStep,
  list: number,
  at: number,
  until: number,
  from: number,
  visit: (idle: Idle) => void,
): void {
  const { graph, end } = step;
  const base = graph.base[list] as number;
  let next = at;
  let rest = until;
  while (rest > from) {
    const { cause, member, of } = bindingOf(step, next);
    if (member !== next) {
      visit({ part: 'bubble', seconds: rest - from, operation: next - base });
      return;
    }
    if (cause === 'host' || cause === 'start') {
      const issued = Math.max(from, of < 0 ? 0 : (end[of] as number));
      if (rest > issued) visit({ part: 'host', seconds: rest - issued, operation: undefined });
      rest = issued;
      if (of < 0) return;
    }
    rest = took(step, list, of, rest, from, visit);
    next = of;
  }
}

/** Gives the time until `until` in which operation `at` ran to its part; returns where that began. */
function took(
  step: SimulatedStep,
  list: number,
  at: number,
  until: number,
  from: number,
  visit: (idle: Idle) => void,
): number {
  const began = Math.max(from, step.start[at] as number);
  const operation = at - (step.graph.base[list] as number);
  const replay = replayOf((step.lists[list] as SimulatedStep['lists'][number]).expanded);
  const expanded = replay.samples[replay.sampleOf[operation] as number];
  if (until > began && expanded) {
    visit({ part: partOf(step.program, expanded), seconds: until - began, operation });
  }
  return Math.min(until, began);
}

function partOf(program: Program, { operation }: ExpandedOperation): IdlePart {
  switch (operation.kind) {
    case 'send':
    case 'recv':
      return 'pipelineSend';
    case 'collective':
      return axisPart(bookedAxis(program, operation.axis));
    case 'compute':
      return operation.lane === 'compute' ? 'host' : 'offload';
    case 'wait':
    case 'host':
    case 'mark':
    case 'alloc':
    case 'free':
      return 'host';
    default:
      return assertUnreachable(operation);
  }
}

function axisPart(axis: string): IdlePart {
  switch (axis) {
    case 'tensor':
    case 'context':
    case 'expert':
    case 'data':
      return axis;
    default:
      return 'pipelineSend';
  }
}
