/** @file Clusters of the same kind and another size: fewer or more nodes, or a part of one node. */
import { freezeDeep } from './fact.ts';
import type { ClusterSpec } from './types.ts';

/** The cluster with `gpus` devices: whole nodes, or that many devices of one node. Undefined for numbers that are neither,
 * and for another size of a cluster of several groups: nobody says which group would change. */
export function resizeCluster(cluster: ClusterSpec, gpus: number): ClusterSpec | undefined {
  const { gpusPerNode, intra, inter } = cluster;
  if (!Number.isInteger(gpus) || gpus < 1) return undefined;
  if (cluster.parts.length > 0) return gpus === cluster.nodes * gpusPerNode ? cluster : undefined;
  if (gpus % gpusPerNode === 0) {
    const nodes = gpus / gpusPerNode;
    return nodes === cluster.nodes ? cluster : freezeDeep({ ...cluster, nodes, name: named(cluster, nodes) });
  }
  if (gpusPerNode % gpus !== 0) return undefined;
  return freezeDeep({
    ...cluster,
    nodes: 1,
    gpusPerNode: gpus,
    name: `${named(cluster, 1)} with ${gpus} of its GPUs`,
    intra: { ...intra, gpus: intra.gpus > gpusPerNode ? intra.gpus : Math.min(intra.gpus, gpus) },
    inter: { ...inter, gpusPerNic: Math.min(inter.gpusPerNic, gpus) },
  });
}

const named = ({ name, nodes, preset }: ClusterSpec, count: number): string =>
  name.startsWith(`${nodes}x `) ? `${count}x ${name.slice(`${nodes}x `.length)}` : `${count}x ${preset}`;

/** Nodes up to which every count is a size; beyond, this many sizes for each doubling are enough. */
const EVERY_COUNT = 32;

/** Sizes of clusters of this kind in ascending order, `from` to `to` devices: the divisors of a node, then whole nodes. */
export function* clusterSizes({ gpusPerNode }: ClusterSpec, from: number, to: number): Generator<number> {
  for (let gpus = 1; gpus < gpusPerNode && gpus <= to; gpus++) {
    if (gpusPerNode % gpus === 0 && gpus >= from) yield gpus;
  }
  let nodes = 1;
  for (let step = 1; nodes * gpusPerNode <= to; nodes += step) {
    if (nodes * gpusPerNode >= from) yield nodes * gpusPerNode;
    if (nodes + step > EVERY_COUNT * 2 * step) step *= 2;
  }
}
