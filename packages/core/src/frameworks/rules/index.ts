/** @file The arithmetic of each framework, as its own code states it: what it would refuse at launch, all of it at once. */
import { type Issue, issue } from '../../errors/index.ts';
import type { FrameworkName } from '../types.ts';
import { attentionRules } from './attention.ts';
import { batchRules } from './batch.ts';
import { degreeRules } from './degrees.ts';
import { expertRules } from './experts.ts';
import { layerRules } from './layers.ts';
import { recomputeRules } from './recompute.ts';
import type { FrameworkRule, Known } from './rule.ts';
import { scheduleRules } from './schedules.ts';
import type { FrameworkSetup, SetupKey } from './setup.ts';
import { shardingRules } from './sharding.ts';
import { switchRules } from './switches.ts';

/** Every rule, in the order of the issues. */
export const frameworkRules: readonly FrameworkRule[] = [
  ...degreeRules,
  ...batchRules,
  ...attentionRules,
  ...expertRules,
  ...layerRules,
  ...recomputeRules,
  ...scheduleRules,
  ...shardingRules,
  ...switchRules,
];

const ofFramework = (name: FrameworkName): readonly FrameworkRule[] =>
  frameworkRules.filter(({ frameworks }) => frameworks.includes(name));

/** The rules of each framework; the default profile refuses nothing of its own. */
export const rulesByFramework: Readonly<Record<FrameworkName, readonly FrameworkRule[]>> = {
  meshwright: [],
  megatron: ofFramework('megatron'),
  nemo: ofFramework('nemo'),
  torchtitan: ofFramework('torchtitan'),
  deepspeed: ofFramework('deepspeed'),
  fsdp: ofFramework('fsdp'),
  nanotron: ofFramework('nanotron'),
};

/** All that `framework` would refuse; rules that read what is unknown are not asked. Paths are keys of the setup. */
export function checkSetup(framework: FrameworkName, setup: FrameworkSetup): readonly Issue[] {
  const issues: Issue[] = [];
  for (const rule of rulesByFramework[framework]) {
    const known = knownOf(rule, setup);
    const found = known && rule.find(setup, known);
    if (!found) continue;
    issues.push(issue(rule.code, pathOf(found.key), found.message, found.hint, found.values));
  }
  return issues;
}

/** The values that a rule reads, or undefined when one is unknown. */
function knownOf(rule: FrameworkRule, setup: FrameworkSetup): Known<SetupKey> | undefined {
  const known: Partial<Record<SetupKey, unknown>> = {};
  for (const key of rule.reads) {
    const value = key in setup ? setup[key as keyof FrameworkSetup] : setup.switches?.[key as never];
    if (value === undefined) return undefined;
    known[key] = value;
  }
  return known as Known<SetupKey>;
}

const ofModel: ReadonlySet<SetupKey> = new Set([
  'layers',
  'hidden',
  'heads',
  'kvHeads',
  'headSize',
  'experts',
  'linearKeyHeads',
  'linearValueHeads',
  'tied',
]);
const ofLayout: ReadonlySet<SetupKey> = new Set([
  'tensor',
  'pipeline',
  'context',
  'contextKind',
  'expert',
  'expertTensor',
  'data',
  'sharding',
  'chunks',
  'schedule',
  'layersPerStage',
  'sequenceParallel',
  'gradientType',
  'offload',
  'microBatch',
]);

function pathOf(key: SetupKey): string {
  if (ofLayout.has(key)) return `layout.${key}`;
  if (ofModel.has(key)) return `model.${key}`;
  if (key === 'sequences' || key === 'length') return `batch.${key}`;
  if (key === 'precision' || key === 'gpus') return key;
  if (key === 'pipelineBeforeData') return 'layout.order';
  if (key === 'dataShard') return 'layout.shard';
  if (key === 'recomputeOfChunks') return 'layout.layers';
  return `framework.${key}`;
}

export type { FrameworkRule } from './rule.ts';
export type { FrameworkSetup, FrameworkSwitches, SetupKey } from './setup.ts';
