/** @file What a user writes for a cluster: `8x dgx-h100`, or a mapping that starts from a preset and changes numbers. */
import { type Issue, issue } from '../errors/index.ts';
import { count, Fields, isMapping, nameIn, shown, unknownName } from './fields.ts';
import { clusterFromMapping } from './mapping.ts';
import { createCluster, presetNames } from './presets.ts';
import type { ClusterSpec } from './types.ts';

/** `cluster` is present exactly when no issue is an error. */
export interface ClusterResult {
  readonly cluster?: ClusterSpec;
  readonly issues: readonly Issue[];
}

/** Nodes that a cluster may have. */
const MAX_NODES = 65_536;

/** The cluster that a user names, or every issue with what was given.
 *
 * Text: `NODESx PRESET`, `8x dgx-h100` or `8xdgx-h100`; a preset alone is one node, and one rack of 18 trays for
 * `gb200-nvl72`, whose nodes are trays of 4 devices. Mapping keys: `nodes`, `preset`, `gpusPerNode`, `gpu` (a name, or
 * `{like, bf16TFLOPS, fp8TFLOPS, memoryGiB, memoryGBps, sustained}`), `intra` `{kind, gpus, GBps, efficiency,
 * latencyUs}`, `inter` `{Gbps, gpusPerNic, efficiency, latencyUs, oversubscription}`, `pcie` `{GBps, efficiency,
 * latencyUs, gpusPerUplink}`, `hostMemoryGiB`, `pricePerGpuHour` (in any currency). Rates are of one direction; what is left out is the preset's.
 */
export function clusterFromRequest(value: unknown, path: string): ClusterResult {
  if (typeof value === 'string') return fromText(value, path);
  if (isMapping(value)) return fromMapping(value, path);
  const message = `${shown(value)} is neither a preset nor a mapping.`;
  return { issues: [issue('CLUSTER_UNREADABLE', path, message, 'Write a cluster as 8x dgx-h100.')] };
}

function fromText(text: string, path: string): ClusterResult {
  const match = /^\s*(?:([+-]?[\d.]+)\s*[x\u00d7*]\s*)?([a-z][\w.-]*)\s*$/i.exec(text);
  if (match?.[2] === undefined) {
    const hint = 'Write nodes and preset as in 8x dgx-h100.';
    return { issues: [issue('CLUSTER_UNREADABLE', path, `"${text}" is not NODESx PRESET.`, hint)] };
  }
  const issues: Issue[] = [];
  const preset = nameIn(match[2], presetNames);
  if (preset === undefined) issues.push(unknownName(match[2], path, presetNames, 'CLUSTER_PRESET_UNKNOWN'));
  const nodes = match[1] === undefined ? undefined : Number(match[1]);
  if (nodes !== undefined && !(Number.isInteger(nodes) && nodes >= 1 && nodes <= MAX_NODES)) {
    const hint = `Use a whole number from 1 to ${MAX_NODES}.`;
    issues.push(issue('VALUE_OUT_OF_RANGE', path, `${match[1]} nodes are not from 1 to ${MAX_NODES}.`, hint));
  }
  return preset === undefined || issues.length > 0 ? { issues } : { cluster: createCluster(preset, nodes), issues };
}

const keys = ['nodes', 'preset', 'gpusPerNode', 'gpu', 'intra', 'inter', 'pcie', 'hostMemoryGiB', 'pricePerGpuHour'];

function fromMapping(value: Readonly<Record<string, unknown>>, path: string): ClusterResult {
  const issues: Issue[] = [];
  const fields = new Fields(value, path, keys, issues);
  const nodes = fields.number('nodes', count(MAX_NODES));
  const cluster = clusterFromMapping(fields, nodes, path);
  return cluster === undefined || issues.length > 0 ? { issues } : { cluster, issues };
}
