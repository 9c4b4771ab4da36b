/** @file The links of a cluster as a graph. */
export { addsInSwitch, createTopology, type LinkSpeeds, partsOf, topologyOf, withSpeeds } from './graph.ts';
export type { DomainShape, LinkFamily, LinkName, Topology, TopologyParts } from './types.ts';
