/** @file The presets: which device, links and host each node has. Numbers come from the generated tables. */
import { deviceNamed } from './devices.ts';
import { factOf, freezeDeep } from './fact.ts';
import type { CollectiveCurve, DeviceName, HostName, NicName, PcieName, SwitchName, TableGpu } from './fit-types.ts';
import { curveRows } from './generated/curves.ts';
import { hostRows, nicRows, pcieRows, switchRows } from './generated/links.ts';
import type { ClusterSpec, HostSpec, InterSpec, IntraSpec, PcieSpec, PresetName } from './types.ts';

interface PresetEntry {
  readonly device: DeviceName;
  readonly gpusPerNode: number;
  /** Nodes of the preset when no count is given: a rack for NVL72. */
  readonly nodes: number;
  readonly intra: { readonly kind: 'switch' | 'pairs'; readonly link: SwitchName; readonly gpus: number } | 'pcie';
  readonly pcie: PcieName;
  readonly nic: NicName;
  readonly gpusPerNic: number;
  readonly host: HostName;
}

const dgx = { gpusPerNode: 8, nodes: 1, gpusPerNic: 1 } as const;

const presets: Readonly<Record<PresetName, PresetEntry>> = {
  'dgx-a100': {
    ...dgx,
    device: 'A100-80GB-SXM',
    intra: { kind: 'switch', link: 'nvlink3', gpus: 8 },
    pcie: 'pcie4',
    nic: 'ib-200',
    host: 'dgx-a100',
  },
  'dgx-h100': {
    ...dgx,
    device: 'H100-80GB-SXM',
    intra: { kind: 'switch', link: 'nvlink4', gpus: 8 },
    pcie: 'pcie5',
    nic: 'ib-400',
    host: 'dgx-h100',
  },
  'dgx-h200': {
    ...dgx,
    device: 'H200-141GB-SXM',
    intra: { kind: 'switch', link: 'nvlink4', gpus: 8 },
    pcie: 'pcie5',
    nic: 'ib-400',
    host: 'dgx-h100',
  },
  'dgx-b200': {
    ...dgx,
    device: 'B200-SXM',
    intra: { kind: 'switch', link: 'nvlink5', gpus: 8 },
    pcie: 'pcie5',
    nic: 'ib-400',
    host: 'dgx-b200',
  },
  'gb200-nvl72': {
    device: 'GB200',
    gpusPerNode: 4,
    nodes: 18,
    intra: { kind: 'switch', link: 'nvlink5', gpus: 72 },
    pcie: 'pcie5',
    nic: 'ib-400',
    gpusPerNic: 1,
    host: 'gb200-tray',
  },
  'pcie-8x-a100': {
    device: 'A100-80GB-PCIe',
    gpusPerNode: 8,
    nodes: 1,
    intra: 'pcie',
    pcie: 'pcie4',
    nic: 'eth-100',
    gpusPerNic: 8,
    host: 'pcie-server',
  },
  'bridge-4x-a100': {
    device: 'A100-80GB-PCIe',
    gpusPerNode: 4,
    nodes: 1,
    intra: { kind: 'pairs', link: 'nvlink3-bridge', gpus: 2 },
    pcie: 'pcie4',
    nic: 'eth-100',
    gpusPerNic: 4,
    host: 'pcie-server',
  },
  'rtx-workstation': {
    device: 'RTX-4090',
    gpusPerNode: 4,
    nodes: 1,
    intra: 'pcie',
    pcie: 'pcie4-host',
    nic: 'eth-10',
    gpusPerNic: 4,
    host: 'workstation',
  },
};

/** Names of the presets, in the order of a list for people. */
export const presetNames: readonly PresetName[] = Object.keys(presets) as PresetName[];

/** The preset that a device is usually found in. */
export const presetOfDevice: Readonly<Record<DeviceName, PresetName>> = {
  'A100-40GB-SXM': 'dgx-a100',
  'A100-80GB-SXM': 'dgx-a100',
  'A100-80GB-PCIe': 'pcie-8x-a100',
  'H100-80GB-SXM': 'dgx-h100',
  'H100-96GB-SXM': 'dgx-h100',
  'H200-141GB-SXM': 'dgx-h200',
  'B200-SXM': 'dgx-b200',
  'B300-SXM': 'dgx-b200',
  GB200: 'gb200-nvl72',
  GB300: 'gb200-nvl72',
  L40S: 'pcie-8x-a100',
  'RTX-4090': 'rtx-workstation',
};

/** `nodes` nodes of a preset; without a count one node, or one rack where the preset is a rack. */
export function createCluster(preset: PresetName, nodes?: number): ClusterSpec {
  const entry = presets[preset];
  const count = nodes ?? entry.nodes;
  return freezeDeep({
    name: `${count}x ${preset}`,
    preset,
    nodes: count,
    gpusPerNode: entry.gpusPerNode,
    device: deviceNamed(entry.device),
    intra: intraOf(entry),
    pcie: pcieOf(entry.pcie),
    inter: interOf(entry),
    host: hostOf(entry.host),
  });
}

/** The tables of collectives were measured on the switches of these links. */
const tableOfDevice: Readonly<Partial<Record<DeviceName, TableGpu>>> = {
  'A100-80GB-SXM': 'A100-SXM',
  'H100-80GB-SXM': 'H100-SXM',
  'H200-141GB-SXM': 'H200-SXM',
  'B200-SXM': 'B200-SXM',
  GB200: 'GB200',
};

const linkNames: Readonly<Record<SwitchName | PcieName, string>> = {
  nvlink3: 'NVLink 3',
  'nvlink3-bridge': 'NVLink 3 bridge',
  nvlink4: 'NVLink 4',
  nvlink5: 'NVLink 5',
  pcie4: 'PCIe 4',
  'pcie4-host': 'PCIe 4 through the host',
  pcie5: 'PCIe 5',
};

const nicNames: Readonly<Record<NicName, string>> = {
  'ib-200': 'InfiniBand 200 Gb/s',
  'ib-400': 'InfiniBand 400 Gb/s',
  'eth-100': 'Ethernet 100 Gb/s',
  'eth-10': 'Ethernet 10 Gb/s',
};

function intraOf({ intra, pcie, device }: PresetEntry): IntraSpec {
  if (intra === 'pcie') return pcieIntra(pcieOf(pcie));
  const rows = switchRows[intra.link];
  const table = intra.kind === 'switch' ? tableOfDevice[device] : undefined;
  return {
    kind: intra.kind,
    name: linkNames[intra.link],
    gpus: intra.gpus,
    bandwidth: factOf(rows.bandwidth),
    efficiency: factOf(rows.efficiency),
    latency: factOf(rows.latency),
    curves: table === undefined ? [] : curvesOf(table),
    curveBandwidth: rows.bandwidth[0],
  };
}

/** A node without fast links: every device is a domain of its own. */
export const pcieIntra = (pcie: PcieSpec): IntraSpec => ({
  kind: 'pcie',
  name: pcie.name,
  gpus: 1,
  bandwidth: pcie.bandwidth,
  efficiency: pcie.efficiency,
  latency: pcie.latency,
  curves: [],
  curveBandwidth: pcie.bandwidth.value,
});

const curvesOf = (table: TableGpu): readonly CollectiveCurve[] =>
  curveRows
    .filter(([gpu]) => gpu === table)
    .map(([, kind, ranks, alpha, perByte, perRootByte]) => ({ kind, ranks, alpha, perByte, perRootByte }));

function pcieOf(name: PcieName): PcieSpec {
  const { bandwidth, efficiency, latency, gpusPerUplink } = pcieRows[name];
  return {
    name: linkNames[name],
    bandwidth: factOf(bandwidth),
    efficiency: factOf(efficiency),
    latency: factOf(latency),
    gpusPerUplink: factOf(gpusPerUplink),
  };
}

function interOf({ nic, gpusPerNic }: PresetEntry): InterSpec {
  const { rate, efficiency, latency, oversubscription } = nicRows[nic];
  return {
    name: nicNames[nic],
    rate: factOf(rate),
    gpusPerNic,
    efficiency: factOf(efficiency),
    latency: factOf(latency),
    oversubscription: factOf(oversubscription),
  };
}

function hostOf(name: HostName): HostSpec {
  const { memory, copyBandwidth } = hostRows[name];
  return { memory: factOf(memory), copyBandwidth: factOf(copyBandwidth) };
}
