/** @file Warnings about memory: what does not fit, what is unequal, and what is gathered in too large pieces. */

import { capacityBytes } from '../../cluster/index.ts';
import { type Issue, warning } from '../../errors/index.ts';
import { replicasOf } from '../../layout/index.ts';
import { bytes, formatBytes, formatShare } from '../../units/index.ts';
import { thresholds } from '../thresholds.ts';
import type { Judged } from './judged.ts';

export function memoryWarnings({ stages, job, layer }: Judged): readonly Issue[] {
  const capacity = capacityBytes(job.cluster);
  const devices = stages.map((stage) => stage.deviceBytes);
  const most = Math.max(...devices);
  const least = Math.min(...devices);
  const issues: Issue[] = layer ? [{ ...layer, severity: 'warning' }] : [];
  const over = stages.some((stage) => stage.verdict === 'does-not-fit');
  if (over || stages.some((stage) => stage.verdict === 'at-risk')) {
    const relation = over ? 'more than' : 'too near to';
    const what = `the fullest stage needs ${formatBytes(bytes(most))}, ${relation} the ${formatBytes(capacity)} of a device.`;
    const fix = 'Split more, shard more or recompute.';
    issues.push(warning(over ? 'OUT_OF_MEMORY' : 'MEMORY_AT_RISK', 'layout', what, fix));
  }
  if (stages.length > 1 && least <= thresholds.stageBalance * most) {
    const what = `the fullest stage holds ${(most / least).toFixed(1)} times the memory of the emptiest, above ${(1 / thresholds.stageBalance).toFixed(1)} times.`;
    const fix = 'Move layers, or recompute on the full stages only.';
    issues.push(warning('STAGES_UNBALANCED', 'layout.layersPerStage', what, fix, { most, least }));
  }
  return issues;
}

/** What the ranks of a node keep in its memory. */
export function hostWarnings({ job, stages }: Judged): readonly Issue[] {
  const { host, gpusPerNode } = job.cluster;
  const most = Math.max(...stages.map((stage) => stage.hostBytes)) * gpusPerNode;
  if (most <= host.memory.value) return [];
  const what = `the ranks of a node keep ${formatBytes(bytes(most))} in its memory, more than the ${formatBytes(bytes(host.memory.value))} that it has.`;
  const fix = 'Share the state out over more ranks, or leave it on the devices.';
  return [warning('HOST_MEMORY_EXCEEDED', 'layout.offload', what, fix, { hostBytes: most })];
}

/** Units in use and gathered ahead, all of the largest size. */
export function unitWarnings({ job, layout, unitBytes }: Judged): readonly Issue[] {
  if (layout.sharding < 3 || replicasOf(layout) === 1) return [];
  const capacity = capacityBytes(job.cluster);
  const units = 1 + layout.prefetch;
  const share = (units * unitBytes) / capacity;
  if (share <= thresholds.gatheredShare) return [];
  const what = `${units} gathered units of up to ${formatBytes(bytes(unitBytes))} hold ${formatShare(share)} of a device, above ${formatShare(thresholds.gatheredShare)}.`;
  const fix = 'Split layers over tensor ranks, use smaller units, or gather fewer ahead.';
  return [warning('UNITS_TOO_LARGE', 'layout.sharding', what, fix, { unitBytes, gatheredShare: share })];
}
