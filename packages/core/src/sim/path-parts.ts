/** @file What the critical path consists of: its seconds by kind of work, and the stretches in which they lie. */
import { bookedAxis, type ExpandedOperation, type Program } from '../program/index.ts';
import { type CriticalOperation, criticalPathOf } from './critical-path.ts';
import type { SimulatedStep } from './types.ts';

/** What a second of the critical path is spent on: kernels by direction, exchanges by axis, or the host's issue. */
export type PathKind =
  | 'forward'
  | 'backward'
  | 'again'
  | 'tail'
  | 'tensor'
  | 'context'
  | 'expert'
  | 'data'
  | 'pipeline'
  | 'host';

/** All seconds of one kind on the path. */
export interface PathPart {
  readonly kind: PathKind;
  readonly seconds: number;
  readonly operations: number;
}

/** Neighbours on the path of one kind, list and micro-batch. */
export interface PathSegment {
  readonly kind: PathKind;
  /** Index of the list. */
  readonly list: number;
  readonly microBatch?: number;
  /** Seconds. */
  readonly start: number;
  readonly end: number;
  readonly operations: number;
}

/** The critical path, cut up without a rest. */
export interface PathSummary {
  /** Sum of all parts, and length of the step. */
  readonly seconds: number;
  /** Longest first. */
  readonly parts: readonly PathPart[];
  /** From the start of the step to its end, without gaps. */
  readonly segments: readonly PathSegment[];
  readonly operations: number;
}

/** The critical path of a step in parts and stretches. */
export function criticalPathSummary(step: SimulatedStep): PathSummary {
  const path = criticalPathOf(step);
  const kindOf = kindsOf(step);
  const segments: PathSegment[] = [];
  for (let at = path.length - 1; at >= 0; at--) {
    const operation = path[at] as CriticalOperation;
    const before = path[at + 1]?.end ?? 0;
    const { microBatch } = step.lists[operation.list]?.expanded.operations[operation.operation] as ExpandedOperation;
    const place = { list: operation.list, ...(microBatch !== undefined && { microBatch }) };
    if (operation.start > before)
      extend(segments, { ...place, kind: 'host', start: before, end: operation.start, operations: 0 });
    extend(segments, { ...place, kind: kindOf(operation), start: operation.start, end: operation.end, operations: 1 });
  }
  const shown = segments.filter(({ start, end }) => end > start);
  return { seconds: step.seconds, parts: partsOf(shown), segments: shown, operations: path.length };
}

function extend(segments: PathSegment[], next: PathSegment): void {
  const last = segments.at(-1);
  if (last?.kind !== next.kind || last.list !== next.list || last.microBatch !== next.microBatch) {
    segments.push(next);
    return;
  }
  segments[segments.length - 1] = { ...last, end: next.end, operations: last.operations + next.operations };
}

function partsOf(segments: readonly PathSegment[]): readonly PathPart[] {
  const parts = new Map<PathKind, PathPart>();
  for (const { kind, start, end, operations } of segments) {
    const known = parts.get(kind) ?? { kind, seconds: 0, operations: 0 };
    parts.set(kind, { kind, seconds: known.seconds + end - start, operations: known.operations + operations });
  }
  return [...parts.values()].sort((one, other) => other.seconds - one.seconds);
}

function kindsOf({ program, lists }: SimulatedStep): (place: CriticalOperation) => PathKind {
  const direction = new Map(program.templates.map((template) => [template.name, template.direction]));
  const items = lists.map(
    ({ expanded }) =>
      new Map(
        expanded.list.items.map((item) => [item.id, item.kind === 'call' ? direction.get(item.template) : undefined]),
      ),
  );
  return ({ list, operation }) => {
    const expanded = lists[list]?.expanded.operations[operation] as ExpandedOperation;
    return exchangeKind(program, expanded) ?? computeKind(expanded, items[list]?.get(expanded.item));
  };
}

function exchangeKind(program: Program, { operation }: ExpandedOperation): PathKind | undefined {
  switch (operation.kind) {
    case 'send':
    case 'recv':
      return 'pipeline';
    case 'collective': {
      const axis = bookedAxis(program, operation.axis);
      return axis === 'tensor' || axis === 'context' || axis === 'expert' || axis === 'data' ? axis : 'pipeline';
    }
    default:
      return undefined;
  }
}

function computeKind({ operation, again }: ExpandedOperation, direction: 'forward' | 'backward' | undefined): PathKind {
  if (operation.kind !== 'compute') return 'host';
  if (again || operation.why.rule === 'recompute') return 'again';
  return direction ?? 'tail';
}
