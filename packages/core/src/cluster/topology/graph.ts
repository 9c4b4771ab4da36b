/** @file Builds the graph of links of a cluster, and routes messages over it. */
import { assertInvariant } from '../../errors/index.ts';
import type { ClusterSpec } from '../types.ts';
import { type DomainLinks, meshLinks, switchLinks, torusLinks } from './domain.ts';
import type { LinkFamily, LinkName, Topology, TopologyParts } from './types.ts';

/** A row of links of one kind: link `first + index`. Even indices lead away from the device, odd ones towards it. */
interface Family {
  readonly family: LinkFamily;
  readonly first: number;
  readonly count: number;
  readonly nameOf: (index: number) => Omit<LinkName, 'family'>;
}

/** Speed of one link over its healthy one, by link; 0 is gone. */
export type LinkSpeeds = ReadonlyMap<number, number>;

/** The graph of a cluster; cards that are `gone` are stood in for by the next one of their node. */
export const topologyOf = (cluster: ClusterSpec, gone?: ReadonlySet<number>): Topology =>
  createTopology(partsOf(cluster), gone);

/** The switches of its domains add up and copy: those of Hopper's NVLink were the first (docs/sources.md,
 * [nccl-algorithms]). */
export const addsInSwitch = ({ device, intra }: Pick<ClusterSpec, 'device' | 'intra'>): boolean =>
  intra.kind === 'switch' && (device.generation === 'hopper' || device.generation === 'blackwell');

/** What a cluster says of its links. Where it says nothing of leaves, each card has its share of the spine by itself; of
 * several levels of switches the innermost one that is oversubscribed stands for all. */
export function partsOf(cluster: ClusterSpec): TopologyParts {
  const { nodes, gpusPerNode, intra, pcie, inter } = cluster;
  const tier = inter.tiers.find(({ oversubscription }) => oversubscription.value > 1) ?? inter.tiers[0];
  return {
    nodes,
    devicesPerNode: gpusPerNode,
    domain: intra.gpus,
    shape: { kind: intra.kind === 'mesh' ? 'mesh' : 'switch' },
    domainRate: intra.bandwidth.value * intra.efficiency.value,
    addsInSwitch: addsInSwitch(cluster),
    pcieRate: pcie.bandwidth.value,
    uplinkRate: pcie.bandwidth.value * pcie.efficiency.value,
    devicesPerUplink: Math.min(gpusPerNode, pcie.gpusPerUplink.value),
    devicesPerNic: inter.gpusPerNic,
    nicRate: inter.rate.value * inter.efficiency.value,
    nodesPerLeaf: tier?.nodes ?? 1,
    oversubscription: tier?.oversubscription.value ?? 1,
  };
}

/** The graph of the given parts. Messages between domains of one node cross PCIe, those between nodes the network. */
export function createTopology(parts: TopologyParts, gone: ReadonlySet<number> = new Set()): Topology {
  const { domain, nodesPerLeaf } = parts;
  const devices = parts.nodes * parts.devicesPerNode;
  const families = familiesOf(parts, devices);
  const { inside, pcie, uplink, nic, leaf } = families;
  const all = [...(inside.count > 0 ? [inside] : []), pcie, uplink, nic, leaf];
  const capacity = capacitiesOf(parts, families, all);
  const { uplinkOf, cardOf, leafOf, nodeOf } = placesOf(parts, gone);
  const overNetwork = (from: number, to: number, visit: (link: number) => void): void => {
    const [near, far] = [cardOf(from), cardOf(to)];
    visit(out(pcie, from));
    visit(out(nic, near));
    if (leafOf(near) !== leafOf(far) || nodesPerLeaf === 1) {
      visit(out(leaf, leafOf(near)));
      visit(back(leaf, leafOf(far)));
    }
    visit(back(nic, far));
    visit(back(pcie, to));
  };
  const hasSwitch = parts.shape.kind === 'switch' && domain > 1;
  const linksOf = (device: number): readonly number[] => {
    const card = cardOf(device);
    const own = hasSwitch ? [out(inside, device), back(inside, device)] : [];
    const shared = [pcie, uplink, nic, leaf].map((family, at) => ({
      family,
      index: [device, uplinkOf(device), card, leafOf(card)][at] ?? 0,
    }));
    return [...own, ...shared.flatMap(({ family, index }) => [out(family, index), back(family, index)])];
  };
  return {
    devices,
    devicesPerNode: parts.devicesPerNode,
    domain,
    addsInSwitch: parts.addsInSwitch && parts.shape.kind === 'switch',
    capacity,
    families: all.map(({ family, first, count }) => ({ family, first, count })),
    route: (from, to, visit) => {
      if (from === to) return;
      if (Math.floor(from / domain) === Math.floor(to / domain)) {
        inside.route(from, to, (link) => visit(inside.first + link));
      } else if (nodeOf(from) !== nodeOf(to)) overNetwork(from, to, visit);
      else {
        visit(out(pcie, from));
        if (uplinkOf(from) !== uplinkOf(to)) {
          visit(out(uplink, uplinkOf(from)));
          visit(back(uplink, uplinkOf(to)));
        }
        visit(back(pcie, to));
      }
    },
    switchPort: (device) => (hasSwitch ? { out: out(inside, device), in: back(inside, device) } : undefined),
    linksOf,
    cardPort: (device) => ({ out: out(nic, cardOf(device)), in: back(nic, cardOf(device)) }),
    ...namesOf(all),
  };
}

function namesOf(all: readonly Family[]): Pick<Topology, 'nameOf' | 'find'> {
  return {
    nameOf: (link) => {
      const family = all.find(({ first, count }) => link >= first && link < first + count);
      assertInvariant(family !== undefined, () => `link ${link} is not in the topology`);
      return { family: family.family, ...family.nameOf(link - family.first) };
    },
    find: (name, index) => {
      const family = all.find((each) => each.family === name);
      if (family === undefined || index < 0 || 2 * index + 1 >= family.count) return [];
      return [family.first + 2 * index, family.first + 2 * index + 1];
    },
  };
}

const out = ({ first }: Family, index: number): number => first + 2 * index;
const back = ({ first }: Family, index: number): number => first + 2 * index + 1;

/** Where devices and cards stand. */
function placesOf(
  { devicesPerNode, devicesPerUplink, devicesPerNic, nodesPerLeaf }: TopologyParts,
  gone: ReadonlySet<number>,
) {
  const cardsPerNode = Math.ceil(devicesPerNode / devicesPerNic);
  const uplinksPerNode = Math.ceil(devicesPerNode / devicesPerUplink);
  const nodeOf = (device: number): number => Math.floor(device / devicesPerNode);
  const within = (device: number, perPart: number): number => Math.floor((device % devicesPerNode) / perPart);
  return {
    nodeOf,
    uplinkOf: (device: number): number => nodeOf(device) * uplinksPerNode + within(device, devicesPerUplink),
    cardOf: (device: number): number => {
      const first = nodeOf(device) * cardsPerNode;
      const own = within(device, devicesPerNic);
      for (let step = 0; gone.size > 0 && step < cardsPerNode; step++) {
        const card = first + ((own + step) % cardsPerNode);
        if (!gone.has(card)) return card;
      }
      return first + own;
    },
    leafOf: (card: number): number =>
      Math.floor(Math.floor(card / cardsPerNode) / nodesPerLeaf) * cardsPerNode + (card % cardsPerNode),
  };
}

interface Families {
  readonly inside: Family & Pick<DomainLinks, 'route'>;
  readonly pcie: Family;
  readonly uplink: Family;
  readonly nic: Family;
  readonly leaf: Family;
}

function familiesOf(parts: TopologyParts, devices: number): Families {
  const { nodes, devicesPerNode, domain, shape } = parts;
  const cardsPerNode = Math.ceil(devicesPerNode / parts.devicesPerNic);
  const uplinksPerNode = Math.ceil(devicesPerNode / parts.devicesPerUplink);
  const links =
    shape.kind === 'switch'
      ? switchLinks(devices, domain)
      : shape.kind === 'mesh'
        ? meshLinks(devices, domain)
        : torusLinks(devices, domain, shape.sizes);
  let first = 0;
  const row = (family: LinkFamily, pairs: number, ends: (index: number) => readonly [string, string]): Family => {
    const made: Family = {
      family,
      first,
      count: 2 * pairs,
      nameOf: (index) => {
        const [near, far] = ends(index >> 1);
        return index % 2 === 0 ? { from: near, to: far } : { from: far, to: near };
      },
    };
    first += made.count;
    return made;
  };
  const inside = { family: links.family, first, count: links.count, nameOf: links.nameOf, route: links.route };
  first += links.count;
  const place = (index: number, perNode: number): string => `${Math.floor(index / perNode)}.${index % perNode}`;
  return {
    inside,
    pcie: row('pcie', devices, (device) => [`device ${device}`, `PCIe of device ${device}`]),
    uplink: row('uplink', nodes * uplinksPerNode, (index) => [
      `PCIe switch ${place(index, uplinksPerNode)}`,
      `host ${Math.floor(index / uplinksPerNode)}`,
    ]),
    nic: row('nic', nodes * cardsPerNode, (index) => [`card ${place(index, cardsPerNode)}`, 'leaf']),
    leaf: row('leaf', Math.ceil(nodes / parts.nodesPerLeaf) * cardsPerNode, (index) => [
      `leaf ${place(index, cardsPerNode)}`,
      'spine',
    ]),
  };
}

function capacitiesOf(parts: TopologyParts, families: Families, all: readonly Family[]): Float64Array {
  const { inside, pcie, uplink, nic, leaf } = families;
  const capacity = new Float64Array(all.reduce((sum, { count }) => sum + count, 0));
  const fill = ({ first, count }: Family, rate: number): void => void capacity.fill(rate, first, first + count);
  fill(inside, parts.domainRate / linksPerDevice(parts));
  fill(pcie, parts.pcieRate);
  fill(uplink, parts.uplinkRate);
  fill(nic, parts.nicRate);
  fill(leaf, (parts.nodesPerLeaf * parts.nicRate) / parts.oversubscription);
  return capacity;
}

function linksPerDevice({ shape, domain }: TopologyParts): number {
  if (shape.kind === 'switch') return 1;
  return shape.kind === 'mesh' ? Math.max(1, domain - 1) : 2 * shape.sizes.length;
}

/** The same graph with links at a share of their speed. */
export function withSpeeds(topology: Topology, speeds: LinkSpeeds): Topology {
  if (speeds.size === 0) return topology;
  const capacity = topology.capacity.slice();
  for (const [link, speed] of speeds) capacity[link] = (capacity[link] as number) * speed;
  return { ...topology, capacity };
}
