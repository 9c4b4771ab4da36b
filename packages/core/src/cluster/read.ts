/** @file What a user writes for a cluster: `8x dgx-h100`, groups of nodes, or a mapping that starts from a preset and changes
 * numbers. */
import { fieldsOf, isMapping, nameIn, unknownName } from '../errors/fields/index.ts';
import { type Issue, issue, quote } from '../errors/index.ts';
import { degradedCluster, readDegraded } from './degraded.ts';
import { clusterFromMapping, clusterKeys } from './mapping.ts';
import { measuredCluster } from './measured.ts';
import { mixedCluster } from './mixed.ts';
import { createCluster } from './presets/build.ts';
import { presetNames } from './presets/index.ts';
import type { ClusterSpec } from './types.ts';

/** `cluster` is present exactly when no issue is an error. */
export interface ClusterResult {
  readonly cluster?: ClusterSpec;
  readonly issues: readonly Issue[];
}

/** Nodes that a cluster may have. */
const MAX_NODES = 65_536;
/** Groups of nodes that a cluster may have. */
const MAX_GROUPS = 64;

/** The cluster that a user names, or every issue with what was given.
 *
 * Text: `NODESx PRESET`, `8x dgx-h100` or `8xdgx-h100`; a preset alone is one node, and one rack of 18 trays for
 * `gb200-nvl72`, whose nodes are trays of 4 devices; groups of nodes that differ are joined by `+`. Mapping keys:
 * `nodes`, `preset`, `gpusPerNode`, `gpu` (a name, or `{like, bf16TFLOPS, fp8TFLOPS, memoryGiB, memoryGBps, sustained}`),
 * `intra` `{kind, gpus, GBps, peerGBps, efficiency, latencyUs}`, `inter` `{Gbps, gpusPerNic, efficiency, latencyUs,
 * oversubscription, nodesPerLeaf, rails, tiers}`, `pcie` `{GBps, efficiency, latencyUs, gpusPerUplink}`, `host`
 * `{memoryGiB, memoryGBps, copyGBps, gpusPerUplink}`, `pricePerGpuHour` (in any currency), `degraded` (a list of `{link or device, node, gpu, fraction}`); or
 * `groups` (a list of clusters) with `degraded`; or `measured` (a machine as `calibrate --here` writes it) with `gpusPerNode`. Rates are of one direction; what is left out is the preset's.
 */
export function clusterFromRequest(value: unknown, path: string): ClusterResult {
  if (typeof value === 'string') return fromText(value, path);
  if (isMapping(value)) return fromMapping(value, path);
  const message = `${quote(value)} is neither a preset nor a mapping.`;
  return { issues: [issue('CLUSTER_UNREADABLE', path, message, 'Write a cluster as 8x dgx-h100.')] };
}

function fromText(text: string, path: string): ClusterResult {
  const groups = text.split('+');
  if (groups.length === 1) return fromGroup(text, path);
  return joined(
    groups.map((each) => fromGroup(each, path)),
    path,
  );
}

function fromGroup(text: string, path: string): ClusterResult {
  const match = /^\s*(?:([+-]?[\d.]+)\s*[x\u00d7*]\s*)?([a-z][\w.-]*)\s*$/i.exec(text);
  if (match?.[2] === undefined) {
    const hint = 'Write nodes and preset as in 8x dgx-h100.';
    return { issues: [issue('CLUSTER_UNREADABLE', path, `${quote(text)} is not NODESx PRESET.`, hint)] };
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

function fromMapping(value: Readonly<Record<string, unknown>>, path: string): ClusterResult {
  if (Object.hasOwn(value, 'groups')) return fromGroups(value, path);
  const issues: Issue[] = [];
  const fields = fieldsOf(value, path, { known: clusterKeys, issues });
  const nodes = fields.integer(['nodes'], { what: 'the number of nodes', min: 1, max: MAX_NODES });
  const cluster = fields.has('measured') ? measuredCluster(fields) : clusterFromMapping(fields, nodes);
  return degraded({ ...(cluster && { cluster }), issues }, fields);
}

function fromGroups(value: Readonly<Record<string, unknown>>, path: string): ClusterResult {
  const issues: Issue[] = [];
  const fields = fieldsOf(value, path, { known: ['groups', 'degraded'], issues });
  const given = fields.list('groups');
  if (given.length > MAX_GROUPS) {
    const message = `${given.length} groups of nodes are more than ${MAX_GROUPS}.`;
    issues.push(issue('VALUE_OUT_OF_RANGE', fields.at('groups'), message, 'Give equal nodes as one group.'));
    return { issues };
  }
  const results = given.map((each) => {
    if (!isMapping(each.value) || !Object.hasOwn(each.value, 'groups'))
      return clusterFromRequest(each.value, each.path);
    const message = 'a group of nodes has groups itself.';
    return { issues: [issue('CLUSTER_UNREADABLE', each.path, message, 'Give one list of groups.')] };
  });
  const result = joined(results, fields.at('groups'));
  return degraded({ ...result, issues: [...issues, ...result.issues] }, fields);
}

function joined(results: readonly ClusterResult[], path: string): ClusterResult {
  const issues = results.flatMap((each) => each.issues);
  const clusters = results.flatMap(({ cluster }) => (cluster === undefined ? [] : [cluster]));
  if (issues.length > 0 || clusters.length < results.length) return { issues };
  if (clusters.length === 0) {
    return { issues: [issue('CLUSTER_UNREADABLE', path, 'there is no group of nodes.', 'Give at least one.')] };
  }
  return mixedCluster(clusters, path);
}

/** The result with what the key `degraded` says of it. */
function degraded({ cluster, issues }: ClusterResult, fields: ReturnType<typeof fieldsOf>): ClusterResult {
  const before = fields.issues.length;
  const list = readDegraded(fields, cluster);
  const all = [...new Set([...issues, ...fields.issues.slice(before)])];
  if (cluster === undefined || all.length > 0) return { issues: all };
  if (list.length === 0) return { cluster, issues: all };
  return degradedCluster(cluster, list, fields.at('degraded'));
}
