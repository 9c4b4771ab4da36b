/** @file From a preset to a cluster: the tables of devices, links and hosts put together. */
import { deviceNamed } from '../devices.ts';
import { assumedFact, factOf, fittedFact, freezeDeep } from '../fact.ts';
import type {
  CollectiveCurve,
  DeviceName,
  FactRow,
  HostName,
  NicName,
  PcieName,
  SwitchName,
  TableGpu,
} from '../fit-types.ts';
import { curveRows } from '../generated/curves.ts';
import { hostRows, nicRows, pcieRows, switchRows } from '../generated/links.ts';
import type { ClusterSpec, Fact, HostSpec, InterSpec, IntraSpec, PcieSpec } from '../types.ts';
import type { PresetEntry } from './entry.ts';
import { presets } from './index.ts';
import type { PresetName } from './names.ts';

/** `nodes` nodes of a preset; without a count one node, or one rack where the preset is a rack. */
export function createCluster(preset: PresetName, nodes?: number): ClusterSpec {
  const entry: PresetEntry = presets[preset];
  const count = nodes ?? entry.nodes ?? 1;
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
    parts: [],
    degraded: [],
  });
}

const linkNames: Readonly<Record<SwitchName | PcieName, string>> = {
  nvlink2: 'NVLink 2',
  'nvlink2-cube': 'NVLink 2 cube mesh',
  nvlink3: 'NVLink 3',
  'nvlink3-reduced': 'NVLink 3 at 400 GB/s',
  'nvlink3-bridge': 'NVLink 3 bridge',
  'nvlink3-3090': 'NVLink 3 bridge of RTX 3090',
  nvlink4: 'NVLink 4',
  'nvlink4-reduced': 'NVLink 4 at 400 GB/s',
  'nvlink4-bridge': 'NVLink 4 bridge',
  nvlink5: 'NVLink 5',
  xgmi2: 'xGMI of MI250X',
  xgmi3: 'xGMI of MI300',
  xgmi4: 'xGMI of MI350',
  pcie3: 'PCIe 3',
  pcie4: 'PCIe 4',
  'pcie4-host': 'PCIe 4 through the host',
  pcie5: 'PCIe 5',
  'pcie5-host': 'PCIe 5 through the host',
  pcie6: 'PCIe 6',
};

const nicNames: Readonly<Record<NicName, string>> = {
  'ib-100': 'InfiniBand 100 Gb/s',
  'ib-200': 'InfiniBand 200 Gb/s',
  'ib-400': 'InfiniBand 400 Gb/s',
  'ib-800': 'InfiniBand 800 Gb/s',
  'slingshot-200': 'Slingshot 200 Gb/s',
  'efa-100': 'EFA 100 Gb/s',
  'efa-400': 'EFA 400 Gb/s',
  'tcp-100': 'Ethernet (TCP) 100 Gb/s',
  'tcpx-200': 'Ethernet (GPUDirect-TCPX) 200 Gb/s',
  'roce-200': 'RoCE 200 Gb/s',
  'roce-400': 'RoCE 400 Gb/s',
  'eth-100': 'Ethernet 100 Gb/s',
  'eth-10': 'Ethernet 10 Gb/s',
};

/** The table of collectives that was measured on a link, and the devices that it was measured with. */
const tableOfLink: Readonly<
  Partial<Record<SwitchName, { readonly table: TableGpu; readonly own: readonly DeviceName[] }>>
> = {
  nvlink3: { table: 'A100-SXM', own: ['A100-40GB-SXM', 'A100-80GB-SXM'] },
  'nvlink3-reduced': { table: 'A100-SXM', own: [] },
  nvlink4: { table: 'H100-SXM', own: ['H100-80GB-SXM'] },
  'nvlink4-reduced': { table: 'H100-SXM', own: [] },
  nvlink5: { table: 'B200-SXM', own: ['B200-SXM'] },
};
const tableOfDevice: Readonly<Partial<Record<DeviceName, TableGpu>>> = { 'H200-141GB-SXM': 'H200-SXM', GB200: 'GB200' };

function intraOf({ intra, pcie, device }: PresetEntry): IntraSpec {
  if (intra === 'pcie') return pcieIntra(pcieOf(pcie));
  const rows: {
    readonly bandwidth: FactRow;
    readonly peer?: FactRow;
    readonly efficiency: FactRow;
    readonly latency: FactRow;
  } = switchRows[intra.link];
  const link = intra.kind === 'switch' ? tableOfLink[intra.link] : undefined;
  const table = link && (tableOfDevice[device] ?? link.table);
  const isOwn = table === undefined || tableOfDevice[device] !== undefined || link?.own.includes(device) === true;
  return {
    kind: intra.kind,
    name: linkNames[intra.link],
    gpus: intra.gpus,
    bandwidth: factOf(rows.bandwidth),
    peer: rows.peer && factOf(rows.peer),
    efficiency: factOf(rows.efficiency),
    latency: factOf(rows.latency),
    curves: table === undefined ? [] : curvesOf(table),
    curveBandwidth: table === undefined ? rows.bandwidth[0] : measuredAt[table],
    curveFit: curveFit(isOwn ? undefined : table),
  };
}

/** Bytes per second of the links that each table of collectives was measured on. */
const measuredAt: Readonly<Record<TableGpu, number>> = {
  'A100-SXM': switchRows.nvlink3.bandwidth[0],
  'A100-PCIe': switchRows.nvlink3.bandwidth[0],
  'H100-SXM': switchRows.nvlink4.bandwidth[0],
  'H200-SXM': switchRows.nvlink4.bandwidth[0],
  'B200-SXM': switchRows.nvlink5.bandwidth[0],
  'B300-SXM': switchRows.nvlink5.bandwidth[0],
  GB200: switchRows.nvlink5.bandwidth[0],
  GB300: switchRows.nvlink5.bandwidth[0],
  L40S: switchRows.nvlink3.bandwidth[0],
};

function curveFit(borrowed: TableGpu | undefined): Fact {
  if (borrowed === undefined) return fittedFact(1, 'the curves are of this device, or there are none');
  return assumedFact(1, `curves of ${borrowed}, scaled to the rate of these links`, 0.85, 1.3);
}

/** A node without fast links: every device is a domain of its own. */
export const pcieIntra = (pcie: PcieSpec): IntraSpec => ({
  kind: 'pcie',
  name: pcie.name,
  gpus: 1,
  bandwidth: pcie.bandwidth,
  peer: undefined,
  efficiency: pcie.efficiency,
  latency: pcie.latency,
  curves: [],
  curveBandwidth: pcie.bandwidth.value,
  curveFit: curveFit(undefined),
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

function interOf({ nic, gpusPerNic, rails = false }: PresetEntry): InterSpec {
  const { rate, efficiency, latency, oversubscription } = nicRows[nic];
  return {
    name: nicNames[nic],
    rate: factOf(rate),
    gpusPerNic,
    efficiency: factOf(efficiency),
    latency: factOf(latency),
    rails,
    tiers: [{ name: 'fabric', nodes: 1, oversubscription: factOf(oversubscription) }],
  };
}

function hostOf(name: HostName): HostSpec {
  const { memory, copyBandwidth, memoryBandwidth, gpusPerUplink } = hostRows[name];
  return {
    memory: factOf(memory),
    copyBandwidth: factOf(copyBandwidth),
    memoryBandwidth: factOf(memoryBandwidth),
    gpusPerUplink: factOf(gpusPerUplink),
  };
}
