/** @file Operations of a list that do the same to buffers of the same shapes: one sample stands for all of them. */
import type { ExpandedOperation } from '../expand.ts';
import { isSlice } from '../names.ts';
import type { Collective, Operation } from '../types.ts';
import type { Place } from './memories.ts';

/** One operation of a kind, with where its operands lie: reads, then writes. */
export interface Sample {
  readonly index: number;
  readonly operation: ExpandedOperation;
  readonly places: readonly Place[];
}

/** Whether two lines differ in nothing but the micro-batch or copy of their buffers. */
export function alikeLines(one: Sample, operation: Operation, places: readonly Place[]): boolean {
  if (one.places.length !== places.length) return false;
  for (let at = 0; at < places.length; at++) if (one.places[at]?.slot !== places[at]?.slot) return false;
  return alike(one.operation.operation, operation);
}

/** Whether two operations do the same, whatever their buffers are. */
export function alike(one: Operation, other: Operation): boolean {
  if (one.kind !== other.kind || one.lane !== other.lane) return false;
  if (one.why.rule !== other.why.rule || one.why.axis !== other.why.axis || one.why.bucket !== other.why.bucket) {
    return false;
  }
  if (one.reads.length !== other.reads.length || one.writes.length !== other.writes.length) return false;
  for (let at = 0; at < one.reads.length; at++)
    if (isSlice(one.reads[at] ?? '') !== isSlice(other.reads[at] ?? '')) return false;
  for (let at = 0; at < one.writes.length; at++) {
    const [left, right] = [one.writes[at], other.writes[at]];
    if (left?.accumulate !== right?.accumulate || isSlice(left?.buffer ?? '') !== isSlice(right?.buffer ?? ''))
      return false;
  }
  switch (one.kind) {
    case 'send':
    case 'recv':
      return one.peer === (other as typeof one).peer;
    case 'collective':
      return alikeCollectives(one, other as Collective);
    case 'wait':
    case 'alloc':
    case 'free':
      return true;
    default:
      return false;
  }
}

const alikeCollectives = (one: Collective, other: Collective): boolean =>
  one.collective === other.collective &&
  one.axis === other.axis &&
  one.algorithm === other.algorithm &&
  one.inner === other.inner &&
  one.dim === other.dim &&
  one.reduce === other.reduce &&
  one.accumulateIn === other.accumulateIn &&
  one.factor === other.factor;
