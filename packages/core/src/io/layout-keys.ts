/** @file How the layout keys of the layout room are read: by name, each with its reader, and the refusals in between. */
import { type LayoutKey, laterLayoutKeys, layoutKeys, overlapOf } from '../layout/index.ts';
import { layerOverrides } from './layout-overrides.ts';
import {
  axisOrder,
  type DataRanks,
  dataDegree,
  layerCounts,
  namesOf,
  oneOf,
  onOff,
  positive,
  type Reader,
  shardingLevel,
  whole,
} from './layout-values.ts';

/** Schedules of the contract that are not compiled yet. */
const laterSchedules = ['pipedream'];

/** Values of `offload` in the contract that are not compiled yet. */
const laterOffloads = ['activations', 'weights'];

/** Members of `overlap` in the contract that are not compiled yet. */
const laterOverlaps = ['tensor', 'expert'];

/** What each type of value takes, for hints and schemas. */
const takes: Readonly<Record<LayoutKey['type'], string>> = {
  count: 'a whole number',
  real: 'a number above 0',
  name: 'a name',
  switch: 'on or off',
  set: 'names joined by +, or none',
  counts: 'whole numbers, one per chunk',
  axes: 'axes, fastest first: tp-cp-ep-dp-pp',
  shards: 'a whole number',
  overrides: 'a list of {from, to, recompute}, or rows such as 0-9:full joined by +',
};

/** A key that may be written: how it is called, what it takes, and how its value is read. */
export interface ReadableKey {
  readonly long: string;
  readonly names: readonly string[];
  readonly says: string;
  /** The keys of a request that it sets, where that is not its own alone. */
  readonly sets?: (value: unknown) => Readonly<Record<string, unknown>>;
  /** Absent: only `accepts`, `auto` and an empty list may be given, because nothing else is priced yet. */
  readonly read?: Reader<unknown>;
  readonly accepts: readonly string[];
}

/** `data: {shard, replicate}` says two keys. */
const dataKeys = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'number' ? { data: value } : { ...(value as DataRanks) };

const readerOf = (key: LayoutKey): Reader<unknown> => {
  const { name, type, min = 0, names = [] } = key;
  if (name === 'data') return dataDegree;
  if (name === 'sharding') return shardingLevel;
  if (name === 'schedule') return oneOf(names, laterSchedules, '1f1b or interleaved-1f1b');
  if (name === 'offload') return oneOf(names, laterOffloads, 'optimizer');
  switch (type) {
    case 'count':
    case 'shards':
      return whole(min);
    case 'real':
      return positive(1e6);
    case 'name':
      return oneOf(names);
    case 'switch':
      return onOff;
    case 'set':
      return namesOf(names, laterOverlaps, overlapOf);
    case 'counts':
      return layerCounts;
    case 'overrides':
      return layerOverrides;
    case 'axes':
      return axisOrder;
  }
};

/** Every key that may stand in a layout, priced ones first. */
export const readableKeys: readonly ReadableKey[] = [
  ...layoutKeys.map((key) => ({
    long: key.name,
    names: key.type === 'shards' ? [key.short] : [...new Set([key.name, key.short, ...key.aliases])],
    ...(key.type === 'shards' && { sets: (shard: unknown) => ({ shard }) }),
    ...(key.name === 'data' && { sets: dataKeys }),
    says: `${key.meaning} Takes ${key.names?.join(', ') ?? takes[key.type]}; default ${key.fallback}.`,
    read: readerOf(key),
    accepts: [],
  })),
  ...laterLayoutKeys.map(({ name, short, aliases, accepts, meaning }) => ({
    long: name,
    names: [...new Set([name, short, ...aliases])],
    says: `${meaning} Not priced yet.`,
    accepts,
  })),
];

/** What other programs call a key, for hints: each name with what to write here. */
export const foreignNames: Readonly<Record<string, string>> = {
  ddp: 'zero=0',
  gbs: 'batch.sequences of the job',
  global_batch_size: 'batch.sequences of the job',
  micro_batch_size: 'mbs',
  tensor_model_parallel_size: 'tp',
  tensor_parallel: 'tp',
  tensor_parallel_degree: 'tp',
  pipeline_model_parallel_size: 'pp',
  pipeline_parallel: 'pp',
  pipeline_parallel_degree: 'pp',
  num_layers_per_virtual_pipeline_stage: 'vpp',
  virtual_pipeline_model_parallel_size: 'vpp',
  context_parallel_size: 'cp',
  expert_model_parallel_size: 'ep',
  data_parallel: 'dp',
  data_parallel_shard_degree: 'shard',
  data_parallel_replicate_degree: 'data: {shard, replicate}',
  num_distributed_optimizer_instances: 'data: {shard, replicate}',
  mics_shard_size: 'shard',
  zero_stage: 'zero',
  stage: 'zero',
  sequence_parallel: 'sp',
  activation_checkpoint: 'ac',
  recompute_granularity: 'ac',
  overlap_comm: 'overlap',
  overlap_grad_reduce: 'overlap=data+pipeline',
  overlap_param_gather: 'overlap=data+parameters+pipeline',
};

/** Every name that may stand as a layout key. */
export const layoutNames: readonly string[] = readableKeys.flatMap(({ names }) => names);

/** The key that a long, short or other name stands for. */
export const keyNamed = (name: string): ReadableKey | undefined =>
  readableKeys.find(({ names }) => names.includes(name));
