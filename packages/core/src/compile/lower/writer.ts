/** @file Writes the numbered lines of a list. */

import type { Layout } from '../../layout/index.ts';
import type { Call, Collective, Item, Operation, WhyRule, Write } from '../../program/index.ts';
import type { BucketPlan } from '../parameters.ts';
import { replicaGroup, setsGroup, shardGroup } from '../replicas.ts';

export interface Writer {
  readonly items: Item[];
  /** Appends a call and gives its line number. */
  call(call: Omit<Call, 'kind' | 'id' | 'needs'>, needs?: readonly number[]): number;
  operation(operation: Operation, needs?: readonly number[]): number;
  /** Number of the last line so far; 0 before the first. */
  last(): number;
}

/** One for all: a long step has hundreds of thousands of lines without needs. */
export const NOTHING: readonly never[] = [];

export function createWriter(): Writer {
  const items: Item[] = [];
  return {
    items,
    call: (call, needs = NOTHING) => {
      items.push(callLine(call, items.length + 1, needs));
      return items.length;
    },
    operation: (operation, needs = NOTHING) => {
      items.push({ kind: 'operation', id: items.length + 1, operation, needs });
      return items.length;
    },
    last: () => items.length,
  };
}

/** Written out, not spread: lines of one shape take half of the time and memory. */
function callLine(call: Omit<Call, 'kind' | 'id' | 'needs'>, id: number, needs: readonly number[]): Call {
  const { template, first, last, microBatch, again, using } = call;
  if (using !== undefined) return { kind: 'call', id, ...call, needs };
  if (again === true) return { kind: 'call', id, template, first, last, microBatch, again, needs };
  return { kind: 'call', id, template, first, last, microBatch, needs };
}

export const write = (buffer: string): Write => ({ buffer });
export const accumulate = (buffer: string): Write => ({ buffer, accumulate: true });

/** A reduction or gather of a whole bucket: a sum over all that hold the same, or gathers and scatters of a set of shards. */
export function overReplicas(
  layout: Layout,
  collective: Collective['collective'],
  from: string,
  to: Write,
  bucket: BucketPlan,
): Collective {
  const axis = (collective === 'all-reduce' ? replicaGroup : shardGroup)(bucket, layout).over;
  const gather = collective === 'all-gather';
  return {
    kind: 'collective',
    lane: gather ? 'data.gather' : 'data.reduce',
    collective,
    axis,
    dim: 'flat',
    ...(!gather && { reduce: 'sum' as const }),
    factor: 1,
    algorithm: 'ring',
    reads: [from],
    writes: [to],
    why: {
      rule: gather ? (from.startsWith('P.') ? 'gather-unit' : 'gather-updated') : 'reduce-gradient',
      axis,
      bucket: bucket.name,
    },
  };
}

/** The sum of a shard over the sets that repeat each other, in place. It has a lane of its own: sums inside of a set go on. */
export function overSets(layout: Layout, bucket: BucketPlan): Collective {
  const axis = setsGroup(bucket, layout).over;
  return {
    kind: 'collective',
    lane: 'data.replicate',
    collective: 'all-reduce',
    axis,
    dim: 'flat',
    reduce: 'sum',
    factor: 1,
    algorithm: 'ring',
    reads: [`S.${bucket.name}`],
    writes: [write(`S.${bucket.name}`)],
    why: { rule: 'sum-sets', axis, bucket: bucket.name },
  };
}

const sumRules: Readonly<Record<string, WhyRule>> = { tensor: 'sum-whole-parameters', ends: 'sum-tied' };

/** A sum in place over tensor, or over a named group of stages that hold the same parameters. */
export function sumInPlace(buffer: string, axis: string, bucket: string): Collective {
  return {
    kind: 'collective',
    lane: axis === 'tensor' ? 'tensor' : 'ends',
    collective: 'all-reduce',
    axis,
    reduce: 'sum',
    factor: 1,
    algorithm: 'ring',
    reads: [buffer],
    writes: [write(buffer)],
    why: { rule: sumRules[axis] ?? 'sum-copies', axis, bucket },
  };
}
