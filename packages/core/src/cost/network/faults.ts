/** @file The links of a cluster with faults, and the ranks that these reach. */
import { type ClusterSpec, type LinkFamily, type Topology, topologyOf, withSpeeds } from '../../cluster/index.ts';
import { InputError, type Issue, issue } from '../../errors/index.ts';
import { createNetwork, type NetworkBuilder } from './network.ts';

/** A link, both ways, at a share of its speed. */
export interface LinkFault {
  readonly family: LinkFamily;
  /** Of the device, card, switch or leaf that the link belongs to, counted through the cluster. */
  readonly index: number;
  /** 0: gone. */
  readonly speed: number;
}

/** A network with faults. */
export interface FaultyNetwork {
  readonly network: NetworkBuilder;
  /** What is wrong on the way of a rank, for ranks whose way is unlike that of others. */
  readonly colours: ReadonlyMap<number, string>;
}

/** The network of a cluster. A card that is gone hands its work to the next one of its node; of other links no other way
 * is known. Throws LINK_MISSING for a link that is not there or cannot be done without. */
export function networkOf(cluster: ClusterSpec, faults: readonly LinkFault[] = []): FaultyNetwork {
  const healthy = topologyOf(cluster);
  const issues = faults.flatMap((fault) => problemOf(healthy, fault));
  if (issues.length > 0) throw new InputError(issues);
  const gone = new Set(faults.filter(({ family, speed }) => family === 'nic' && speed === 0).map(({ index }) => index));
  const speeds = new Map(
    faults
      .filter(({ speed }) => speed > 0)
      .flatMap(({ family, index, speed }) => healthy.find(family, index).map((link) => [link, speed] as const)),
  );
  const routed = gone.size === 0 ? healthy : topologyOf(cluster, gone);
  throwIfCutOff(healthy, routed, gone);
  const slow = new Set(speeds.keys());
  const colours = new Map<number, string>();
  if (faults.length > 0) {
    for (let device = 0; device < healthy.devices; device++) {
      const [before, after] = [healthy.linksOf(device), routed.linksOf(device)];
      const words = after
        .filter((link) => slow.has(link))
        .map((link) => `${healthy.nameOf(link).family} ${speeds.get(link)}`);
      const moved = before.some((link, at) => link !== after[at]);
      const shares = after.some((link, at) => link === before[at] && takesOver(healthy, routed, gone, device, link));
      const text = [...words, ...(moved ? ['moved'] : []), ...(shares ? ['shares'] : [])].join(' ');
      if (text !== '') colours.set(device, text);
    }
  }
  return { network: createNetwork(withSpeeds(routed, speeds), healthy), colours };
}

function throwIfCutOff(healthy: Topology, routed: Topology, gone: ReadonlySet<number>): void {
  const missing = new Set([...gone].flatMap((card) => healthy.find('nic', card)));
  for (let device = 0; gone.size > 0 && device < routed.devices; device++) {
    if (!missing.has(routed.cardPort(device).out)) continue;
    const node = Math.floor(device / routed.devicesPerNode);
    const message = `every card of node ${node} is gone.`;
    throw new InputError([issue('LINK_MISSING', 'links', message, 'Leave one card to each node.')]);
  }
}

/** The device's own card carries another one's work. */
function takesOver(
  healthy: Topology,
  routed: Topology,
  gone: ReadonlySet<number>,
  device: number,
  link: number,
): boolean {
  if (gone.size === 0) return false;
  const node = Math.floor(device / healthy.devicesPerNode) * healthy.devicesPerNode;
  for (let other = node; other < node + healthy.devicesPerNode; other++) {
    if (routed.cardPort(other).out === link && healthy.cardPort(other).out !== link) return true;
  }
  return false;
}

function problemOf(topology: Topology, { family, index, speed }: LinkFault): readonly Issue[] {
  const name = `${family} ${index}`;
  if (topology.find(family, index).length === 0) {
    return [issue('LINK_MISSING', 'links', `${name} is not a link of this cluster.`, 'Count links of a kind from 0.')];
  }
  if (speed === 0 && family !== 'nic') {
    const hint = 'Give a share of its speed above 0, or take out a nic: the next card of the node stands in.';
    return [issue('LINK_MISSING', 'links', `${name} is gone, and no other way is known.`, hint)];
  }
  return [];
}
