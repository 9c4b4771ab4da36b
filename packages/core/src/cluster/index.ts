/** @file Clusters: what a user names, resolved to a frozen value with the source of every number. */
import { type Bytes, bytes } from '../units/index.ts';
import type { ClusterSpec } from './types.ts';

/** All devices of a cluster. */
export const gpuCount = (cluster: ClusterSpec): number => cluster.nodes * cluster.gpusPerNode;

/** What the allocator of one device can hand out. */
export const capacityBytes = (cluster: ClusterSpec): Bytes => bytes(cluster.device.memory.value);

export type { CollectiveCurve, CurveKind, GemmFit } from './fit-types.ts';
export { createCluster, presetNames } from './presets.ts';
export { type ClusterResult, clusterFromRequest } from './read.ts';
export { clusterSizes, resizeCluster } from './resize.ts';
export {
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
  ClusterSpec,
  DeviceSpec,
  Fact,
  FactKind,
  GemmModel,
  GemmType,
  Generation,
  HostSpec,
  InterSpec,
  IntraKind,
  IntraSpec,
  PcieSpec,
  PresetName,
  ProductFactors,
} from './types.ts';
