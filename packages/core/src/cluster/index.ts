/** @file Clusters: what a user names, resolved to a frozen value with the source of every number. */
import { type Bytes, bytes } from '../units/index.ts';
import type { ClusterSpec } from './types.ts';

/** All devices of a cluster. */
export const gpuCount = (cluster: ClusterSpec): number => cluster.nodes * cluster.gpusPerNode;

/** What the allocator of one device can hand out. */
export const capacityBytes = (cluster: ClusterSpec): Bytes => bytes(cluster.device.memory.value);

export type { CollectiveCurve, CurveKind, DeviceName, GemmFit } from './fit-types.ts';
export { type ClusterKey, clusterKeyTable } from './keys.ts';
export { createCluster } from './presets/build.ts';
export { presetNames, presets } from './presets/index.ts';
/** Bytes per second between host and one device, each direction, while every device of its node copies: its own link,
 * its share of a shared one, and its share of the host's memory, whichever is least. */
export function hostCopyRate({ host, gpusPerNode }: ClusterSpec): number {
  const { copyBandwidth, gpusPerUplink, memoryBandwidth } = host;
  return Math.min(copyBandwidth.value / gpusPerUplink.value, memoryBandwidth.value / gpusPerNode);
}

/** Host memory for each device, in bytes. */
export const hostBytesPerDevice = ({ host, gpusPerNode }: ClusterSpec): Bytes => bytes(host.memory.value / gpusPerNode);

export { deviceNamed, deviceNames, halfProducts } from './devices.ts';
export { type ClusterResult, clusterFromRequest } from './read.ts';
export { clusterSizes, resizeCluster } from './resize.ts';
export {
  addsInSwitch,
  createTopology,
  type DomainShape,
  type LinkFamily,
  type LinkName,
  type LinkSpeeds,
  type Topology,
  type TopologyParts,
  topologyOf,
  withSpeeds,
} from './topology/index.ts';
export type {
  AttentionModel,
  ClusterPart,
  ClusterSpec,
  Degradation,
  DeviceSpec,
  FabricTier,
  Fact,
  FactKind,
  GemmModel,
  GemmType,
  Generation,
  HostSpec,
  InterSpec,
  IntraKind,
  IntraSpec,
  MeasuredCost,
  MeasuredDevice,
  PcieSpec,
  PresetName,
  ProductFactors,
} from './types.ts';
