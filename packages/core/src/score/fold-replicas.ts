/** @file A run whose weights are sharded over a part of the data ranks as a run of that part.
 *
 * Until layouts have replicas, one shard group is priced with its share of the batch; the sum of gradients over the
 * replicas is left out: it runs beside the backward, on links that the gathers inside the group do not use.
 */
import type { RunRow } from './run-row.ts';
import { type Outcome, skip } from './skip.ts';

/** A run of one shard group. */
export interface ReplicaRun {
  readonly row: RunRow;
  readonly assumed: readonly string[];
}

const sharded = /fsdp|hsdp|zero-3/i;
const inNode = /hsdp|shard in node/i;
const stated = /shard group (\d+)|\(shard (\d+)\)/i;

/** The run of one shard group, or the run itself where its shards go over all data ranks. */
export function foldReplicas(row: RunRow): Outcome<ReplicaRun> {
  const { dp: data, n_gpus: gpus, global_batch: sequences, zero_fsdp: text } = row;
  if (!sharded.test(text) || data === undefined || gpus === undefined || sequences === undefined)
    return { value: { row, assumed: [] } };
  const group = Number(
    stated.exec(text)?.slice(1).find(Boolean) ?? (inNode.test(text) ? (row.gpus_per_node ?? 8) : data),
  );
  if (group >= data) return { value: { row, assumed: [] } };
  const replicas = data / group;
  if (!Number.isInteger(replicas) || gpus % replicas !== 0 || sequences % replicas !== 0)
    return skip('sharding-not-priced', `${text}, ${data} data ranks`);
  return {
    value: {
      row: { ...row, dp: group, n_gpus: gpus / replicas, global_batch: sequences / replicas, zero_fsdp: 'ZeRO-3' },
      assumed: [`sharding: ${replicas} replicas of ${group} ranks, the sum over replicas hidden`],
    },
  };
}
