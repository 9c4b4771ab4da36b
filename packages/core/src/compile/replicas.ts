/** @file Over which ranks a bucket is exchanged: all that hold the same, one set of shards, or all sets.
 *
 * Where sets of shards repeat each other (hybrid sharding), the data axis is made of two named groups: `data.shard` inside,
 * `data.replicate` outside; `shards` joins the first with the context axis. Experts over a grid of their own have both
 * along their own axis.
 */
import type { Layout } from '../layout/index.ts';
import type { AxisName } from '../mesh/index.ts';
import type { Group } from '../program/index.ts';
import { type BucketPlan, replicasOfBucket, shardsOfBucket } from './parameters.ts';

type BucketKind = Pick<BucketPlan, 'experts'>;

/** The ranks of an exchange: the name of an axis or group in programs, and what prices are asked by. */
export interface Replicas {
  readonly over: string;
  /** Axes of the group; the one that it is booked on first. */
  readonly axes: readonly AxisName[];
  /** Of the first axis only so many coordinates, so far apart. */
  readonly part?: { readonly count: number; readonly step: number };
}

const data: Replicas = { over: 'data', axes: ['data'] };
const dataAndContext: Replicas = { over: 'replicas', axes: ['data', 'context'] };
const expertData: Replicas = { over: 'expertData', axes: ['expertData'] };

/** All ranks that hold the same parameters. */
export const replicaGroup = ({ experts }: BucketKind, { context }: Pick<Layout, 'context'>): Replicas =>
  experts ? expertData : context > 1 ? dataAndContext : data;

/** Ranks that share out one copy of a bucket's state. */
export function shardGroup(bucket: BucketKind, layout: Layout): Replicas {
  const { replicate, context } = layout;
  if (replicate === 1) return replicaGroup(bucket, layout);
  if (bucket.experts) {
    return { over: 'expertData.shard', axes: ['expertData'], part: { count: shardsOfBucket(bucket, layout), step: 1 } };
  }
  const part = { count: layout.data / replicate, step: 1 };
  return context > 1
    ? { over: 'shards', axes: ['data', 'context'], part }
    : { over: 'data.shard', axes: ['data'], part };
}

/** Ranks that hold the same shard in sets that repeat each other. */
export function setsGroup({ experts }: BucketKind, layout: Layout): Replicas {
  const { replicate: count } = layout;
  if (experts) {
    const step = replicasOfBucket({ experts }, layout) / count;
    return { over: 'expertData.replicate', axes: ['expertData'], part: { count, step } };
  }
  if (count === layout.data) return data;
  return { over: 'data.replicate', axes: ['data'], part: { count, step: layout.data / count } };
}

/** The two groups that make up an axis; none for one that has a single rank in either of them. */
function partsOf(axis: 'data' | 'expertData', inside: number, sets: number): readonly Group[] {
  if (inside === 1 || sets === 1) return [];
  const along = { along: axis, repeats: true as const };
  return [
    { name: `${axis}.shard`, ...along, coordinates: upTo(inside) },
    { name: `${axis}.replicate`, ...along, coordinates: upTo(sets, inside) },
  ];
}

const upTo = (count: number, step = 1): readonly number[] => Array.from({ length: count }, (_, at) => at * step);

/** Groups that the data axis names in a program. */
export function replicaGroups(layout: Layout, hasExperts: boolean): readonly Group[] {
  const { data: degree, context, replicate } = layout;
  const shard = degree / replicate;
  const expertShards = hasExperts ? shardsOfBucket({ experts: true }, layout) : 1;
  return [
    ...(context > 1
      ? [{ name: 'replicas', along: 'data' as const, coordinates: upTo(degree), joint: ['context' as const] }]
      : []),
    ...(replicate > 1 ? partsOf('data', shard, replicate) : []),
    ...(replicate > 1 && context > 1
      ? [
          {
            name: 'shards',
            along: 'data' as const,
            coordinates: upTo(shard),
            joint: ['context' as const],
            repeats: true as const,
          },
        ]
      : []),
    ...(replicate > 1 ? partsOf('expertData', expertShards, replicate) : []),
  ];
}
