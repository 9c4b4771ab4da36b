/** @file The links of a cluster as a directed graph: what stands at their ends, how fast they are, which of them a message
 * crosses. Links are numbered; numbers of one family follow each other.
 */

/** `device`: between a device and its switch, or its bridge. `mesh` and `torus`: between two devices of such a domain.
 * `pcie`: between a device and its PCIe switch. `uplink`: between that switch and the host. `nic`: a network card and its
 * leaf. `leaf`: between leaf and spine. */
export type LinkFamily = 'device' | 'mesh' | 'torus' | 'pcie' | 'uplink' | 'nic' | 'leaf';

/** How the devices of a link domain are joined. `torus` has the sizes of its dims, fastest first. */
export type DomainShape =
  | { readonly kind: 'switch' }
  | { readonly kind: 'mesh' }
  | { readonly kind: 'torus'; readonly sizes: readonly number[] };

/** What a graph of links is made from. Rates are bytes per second and direction that large messages reach. */
export interface TopologyParts {
  readonly nodes: number;
  readonly devicesPerNode: number;
  /** Devices of one domain; device d is in domain floor(d / domain). 1: no fast links. */
  readonly domain: number;
  readonly shape: DomainShape;
  /** Of one device into its domain, all its links together. */
  readonly domainRate: number;
  readonly addsInSwitch: boolean;
  /** Between a device and its switch, and from the switch to the host and other switches. */
  readonly pcieRate: number;
  readonly uplinkRate: number;
  /** Devices behind one PCIe switch. */
  readonly devicesPerUplink: number;
  readonly devicesPerNic: number;
  readonly nicRate: number;
  /** Nodes whose cards of one rail meet at a leaf; 1: each card reaches the spine by itself. */
  readonly nodesPerLeaf: number;
  /** Rate of the cards under a leaf over the rate from it to the spine. */
  readonly oversubscription: number;
}

/** One directed link in words. */
export interface LinkName {
  readonly family: LinkFamily;
  readonly from: string;
  readonly to: string;
}

/** The graph. A frozen value; `capacity` is not to be written to. */
export interface Topology {
  readonly devices: number;
  readonly devicesPerNode: number;
  /** Devices of one link domain. */
  readonly domain: number;
  /** Switches of a domain can add up and copy (NVLS). */
  readonly addsInSwitch: boolean;
  /** Bytes per second of each link; 0 where it is gone. */
  readonly capacity: Float64Array;
  /** Calls `visit` for every link that a message between two devices crosses, in order; for none where they are one. */
  route(from: number, to: number, visit: (link: number) => void): void;
  /** The links between a device and the switch of its domain: what sums and copies in the switch cross; undefined in a
   * domain without a switch. */
  switchPort(device: number): { readonly out: number; readonly in: number } | undefined;
  /** Links between a device's card and its leaf. */
  cardPort(device: number): { readonly out: number; readonly in: number };
  /** Links on the way out of a device and back: its own, and those that it shares with others. */
  linksOf(device: number): readonly number[];
  /** Rows of links of one kind. */
  readonly families: readonly { readonly family: LinkFamily; readonly first: number; readonly count: number }[];
  nameOf(link: number): LinkName;
  /** Both links of one device, card, switch or leaf of a family, counted through the cluster; empty where there is none. */
  find(family: LinkFamily, index: number): readonly number[];
}
