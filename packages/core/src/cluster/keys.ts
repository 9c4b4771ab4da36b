/** @file The keys of a cluster as data: what mappings may say, and the reference page docs/reference/clusters.md. */

/** One key of a mapping; `path` is dotted, `[]` stands for each entry of a list. */
export interface ClusterKey {
  readonly path: string;
  readonly takes: string;
  readonly says: string;
}

/** All keys that are read, in the order of the page. Rates are of one direction; what is left out is the preset's. */
export const clusterKeyTable: readonly ClusterKey[] = [
  { path: 'nodes', takes: 'count', says: 'Nodes; 1 when absent, a whole rack for NVL72.' },
  { path: 'preset', takes: 'name', says: 'The kind of node that the others change.' },
  { path: 'gpusPerNode', takes: 'count', says: 'Devices of a node.' },
  {
    path: 'gpu',
    takes: 'name or mapping',
    says: 'A device of the table, or one that is like it with numbers of its own.',
  },
  { path: 'gpu.like', takes: 'name', says: 'The device that it resembles.' },
  { path: 'gpu.bf16TFLOPS', takes: 'number', says: 'Dense rate of 16-bit products.' },
  { path: 'gpu.fp8TFLOPS', takes: 'number', says: 'Dense rate of fp8 products.' },
  { path: 'gpu.memoryGiB', takes: 'number', says: 'Memory that the allocator can hand out.' },
  { path: 'gpu.memoryGBps', takes: 'number', says: 'Rate of its memory.' },
  { path: 'gpu.sustained', takes: 'share', says: 'Rate of products under load over that of a burst.' },
  { path: 'intra', takes: 'mapping', says: 'Fast links inside a domain.' },
  { path: 'intra.kind', takes: 'switch, mesh, pairs, pcie', says: 'How they join devices.' },
  { path: 'intra.gpus', takes: 'count', says: 'Devices of a domain.' },
  { path: 'intra.GBps', takes: 'number', says: 'Rate of a device into the domain.' },
  { path: 'intra.peerGBps', takes: 'number', says: 'Rate between two devices of a mesh.' },
  { path: 'intra.efficiency', takes: 'share', says: 'Share of the rate that large messages reach.' },
  { path: 'intra.latencyUs', takes: 'number', says: 'Microseconds of a step.' },
  { path: 'inter', takes: 'mapping', says: 'The network between nodes.' },
  { path: 'inter.Gbps', takes: 'number', says: 'Line rate of a card, in gigabits.' },
  { path: 'inter.gpusPerNic', takes: 'count', says: 'Devices that share a card.' },
  { path: 'inter.efficiency', takes: 'share', says: 'Share of the line rate that large messages reach.' },
  { path: 'inter.latencyUs', takes: 'number', says: 'Microseconds of a step.' },
  {
    path: 'inter.oversubscription',
    takes: 'number from 1',
    says: 'Sum of the card rates of a leaf over the rate out of it.',
  },
  { path: 'inter.nodesPerLeaf', takes: 'count', says: 'Nodes of a leaf; 1 when absent: every node pays.' },
  { path: 'inter.rails', takes: 'true or false', says: 'Each card of a node hangs on a leaf of its own.' },
  { path: 'inter.tiers', takes: 'list', says: 'Several levels of switches, from the leaves outward.' },
  { path: 'inter.tiers[].name', takes: 'text', says: 'Name of the level.' },
  { path: 'inter.tiers[].nodes', takes: 'count', says: 'Nodes of one of its blocks.' },
  {
    path: 'inter.tiers[].oversubscription',
    takes: 'number from 1',
    says: 'Card rates of a block over the rate out of it.',
  },
  { path: 'pcie', takes: 'mapping', says: 'Links to the host and, without fast links, between devices.' },
  { path: 'pcie.GBps', takes: 'number', says: 'Rate of a link.' },
  { path: 'pcie.efficiency', takes: 'share', says: 'Share of it that exchanges reach.' },
  { path: 'pcie.latencyUs', takes: 'number', says: 'Microseconds of a step.' },
  { path: 'pcie.gpusPerUplink', takes: 'count', says: 'Devices that share the way out of their switch.' },
  { path: 'host', takes: 'mapping', says: 'Memory of a node, for what is kept there.' },
  { path: 'host.memoryGiB', takes: 'number', says: 'Its size.' },
  { path: 'host.memoryGBps', takes: 'number', says: 'Its rate.' },
  { path: 'host.copyGBps', takes: 'number', says: 'Rate between host and one device that copies alone.' },
  { path: 'host.gpusPerUplink', takes: 'count', says: 'Devices that share a link to the host.' },
  { path: 'hostMemoryGiB', takes: 'number', says: 'The same as host.memoryGiB.' },
  { path: 'pricePerGpuHour', takes: 'number', says: 'Price of a device for an hour, in any currency.' },
  {
    path: 'degraded',
    takes: 'list',
    says: 'Links and devices that are slow or gone; every step waits for the slowest.',
  },
  { path: 'degraded[].link', takes: 'nvlink, xgmi, pcie, nic', says: 'The kind of link.' },
  { path: 'degraded[].device', takes: 'number', says: 'The device of the node, counted from 0.' },
  { path: 'degraded[].node', takes: 'number', says: 'The node, counted from 0; alone with fraction 0 it is gone.' },
  { path: 'degraded[].gpu', takes: 'number', says: 'The device whose link it is.' },
  { path: 'degraded[].fraction', takes: 'share or 0', says: 'What is left of the rate.' },
  {
    path: 'measured',
    takes: 'mapping',
    says: 'A machine as meshwright calibrate --here has measured it; beside it only gpusPerNode, its number of ranks.',
  },
  { path: 'measured.cores', takes: 'count', says: 'Cores; ranks beyond so many take turns.' },
  { path: 'measured.memoryGiB', takes: 'number', says: 'Memory of the machine.' },
  {
    path: 'measured.kernels',
    takes: 'mapping',
    says: 'By name of a kernel: us (to start), usPerMFLOP, usPerMB; of others by kind of work under measured.others.',
  },
  {
    path: 'measured.between',
    takes: 'mapping',
    says: 'The same of what is done before each kernel, by MB that it writes.',
  },
  {
    path: 'measured.exchanges',
    takes: 'list',
    says: 'Curves of collectives: kind, ranks, us (of the smallest), usPerMB (of the full buffer).',
  },
  { path: 'groups', takes: 'list', says: 'Groups of nodes that differ, each a cluster; beside it only degraded.' },
];

/** The keys that stand directly under `path`; an empty path is the cluster itself. */
export function clusterKeysUnder(path: string): readonly string[] {
  const head = path === '' ? '' : `${path}.`;
  return clusterKeyTable
    .filter((key) => key.path.startsWith(head) && !key.path.slice(head.length).includes('.'))
    .map((key) => key.path.slice(head.length));
}
