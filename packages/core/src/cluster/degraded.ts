/** @file Links and devices that do less than they should, or are gone: read from `degraded`, and put into the numbers.
 *
 * Every step waits for its slowest member, so one slow link is the rate of its kind for all. What leaves no mesh of
 * equal nodes (a node with a device fewer) is refused, with what to do instead.
 */
import { type Fields, fieldsOf, isMapping, wrongType } from '../errors/fields/index.ts';
import { type Issue, issue } from '../errors/index.ts';
import { freezeDeep } from './fact.ts';
import { clusterKeysUnder } from './keys.ts';
import { pcieIntra } from './presets/build.ts';
import type { ClusterResult } from './read.ts';
import type { ClusterSpec, Degradation, DeviceSpec, Fact } from './types.ts';

/** One entry as it was given; `fraction` 0 means gone. */
interface Entry {
  readonly what: Degradation['what'] | 'node';
  readonly fraction: number;
  readonly node: number | undefined;
  readonly gpu: number | undefined;
  readonly path: string;
}

const links = { nvlink: 'intra', xgmi: 'intra', intra: 'intra', pcie: 'pcie', nic: 'inter', inter: 'inter' } as const;
const linkNames = Object.keys(links) as readonly (keyof typeof links)[];
const MOST = 4096;

/** The entries of the list under `degraded`; what is wrong with them is among the issues of `fields`. */
export function readDegraded(fields: Fields, cluster: ClusterSpec | undefined): readonly Entry[] {
  const list = fields.list('degraded');
  if (list.length > MOST) {
    const message = `${list.length} degraded parts are more than ${MOST}.`;
    fields.issues.push(issue('VALUE_OUT_OF_RANGE', fields.at('degraded'), message, 'Give the slowest of each kind.'));
    return [];
  }
  return list.flatMap(({ value, path }) => readEntry(fields, value, path, cluster) ?? []);
}

function readEntry({ issues }: Fields, value: unknown, path: string, cluster?: ClusterSpec): Entry | undefined {
  if (!isMapping(value)) {
    issues.push(wrongType(path, value, 'a mapping such as {link: nic, node: 3, fraction: 0.5}'));
    return undefined;
  }
  const own = fieldsOf(value, path, { known: clusterKeysUnder('degraded[]'), issues });
  const most = (count: number | undefined): number => (count ?? MOST) - 1;
  const node = own.integer(['node'], { what: 'the node', max: most(cluster?.nodes) });
  const gpu = own.integer(['gpu', 'device'], { what: 'the device of the node', max: most(cluster?.gpusPerNode) });
  const link = own.choice('link', linkNames);
  const rule = { what: 'the share of the rate that is left', max: 1, required: true, example: '0.5' };
  const fraction = own.real(['fraction'], rule);
  if (own.has('link') && own.has('device')) {
    issues.push(
      issue('KEYS_CONFLICT', own.at('device'), 'an entry is a link or a device.', 'Use gpu to say where a link is.'),
    );
  }
  if (fraction === undefined || (own.has('link') && link === undefined)) return undefined;
  const what = link !== undefined ? links[link] : own.has('device') || own.has('gpu') ? 'device' : 'node';
  if (what === 'node' && (node === undefined || fraction > 0)) {
    const message = 'it is neither said which link or device is slow, nor which node is gone.';
    const hint = `Give link (${linkNames.join(', ')}) or device, or a node with fraction 0.`;
    issues.push(issue('KEY_MISSING', path, message, hint));
    return undefined;
  }
  return { what, fraction, node, gpu, path };
}

/** The cluster without what is gone, at the rates of what is slow. */
export function degradedCluster(cluster: ClusterSpec, entries: readonly Entry[], path: string): ClusterResult {
  const issues: Issue[] = [];
  const lost = new Set(entries.filter(({ what }) => what === 'node').map(({ node }) => node));
  if (lost.size >= cluster.nodes) {
    issues.push(issue('DEGRADED_NOT_MODELLED', path, `${lost.size} of ${cluster.nodes} nodes are gone.`, 'Leave one.'));
  }
  if (lost.size > 0 && cluster.parts.length > 0) {
    const message = 'a node of a cluster of several groups is gone.';
    issues.push(issue('DEGRADED_NOT_MODELLED', path, message, 'Take it out of the count of its group.'));
  }
  let { device, intra, pcie, inter } = cluster;
  const degraded: Degradation[] = [];
  for (const entry of entries) {
    const left = entry.what === 'node' || entry.fraction > 0 ? entry.fraction : withoutIt(cluster, entry);
    if (typeof left !== 'number') {
      issues.push(left);
      continue;
    }
    if (entry.what !== 'node') degraded.push({ what: entry.what, fraction: left, node: entry.node, gpu: entry.gpu });
  }
  if (issues.length > 0) return { issues };
  const worst = (what: Degradation['what']): number =>
    degraded.filter((each) => each.what === what).reduce((least, { fraction }) => Math.min(least, fraction), 1);
  if (worst('device') < 1) device = slower(device, worst('device'));
  if (worst('pcie') < 1) pcie = { ...pcie, bandwidth: scaled(pcie.bandwidth, worst('pcie')) };
  if (worst('inter') < 1) inter = { ...inter, rate: scaled(inter.rate, worst('inter')) };
  if (worst('intra') === 0) intra = pcieIntra(pcie);
  else if (worst('intra') < 1) {
    const part = worst('intra');
    intra = { ...intra, bandwidth: scaled(intra.bandwidth, part), peer: intra.peer && scaled(intra.peer, part) };
  }
  const name = `${cluster.name} with degraded parts`;
  const nodes = cluster.nodes - lost.size;
  return { cluster: freezeDeep({ ...cluster, name, nodes, device, intra, pcie, inter, degraded }), issues };
}

/** What is left of a rate without one link: 0 where another kind of link takes over, or an issue where nothing does. */
function withoutIt(cluster: ClusterSpec, { what, path }: Entry): number | Issue {
  const { gpusPerNode, inter } = cluster;
  const refuse = (message: string, hint: string): Issue => issue('DEGRADED_NOT_MODELLED', path, message, hint);
  switch (what) {
    case 'intra':
      // Its device talks over PCIe, and the ring waits for it.
      return 0;
    case 'inter':
      if (gpusPerNode > inter.gpusPerNic) return 0.5;
      return refuse('the only card of a node is gone.', 'Take the node out: {node: N, fraction: 0}.');
    case 'pcie':
      return refuse('a device without PCIe cannot be reached.', 'Take its node out: {node: N, fraction: 0}.');
    default: {
      const message = `a node with ${gpusPerNode - 1} of ${gpusPerNode} devices is no part of a mesh of equal nodes.`;
      return refuse(message, 'Take the node out ({node: N, fraction: 0}), or give gpusPerNode.');
    }
  }
}

function slower(device: DeviceSpec, part: number): DeviceSpec {
  const { attention, sustained } = device;
  return {
    ...device,
    sustained: scaled(sustained, part),
    attention: { ...attention, forward: scaled(attention.forward, part), backward: scaled(attention.backward, part) },
  };
}

function scaled({ value, low, high, kind, source, asOf }: Fact, part: number): Fact {
  return {
    value: value * part,
    low: low * part,
    high: high * part,
    kind,
    source: `${source}; times ${part}, as given`,
    asOf,
  };
}
