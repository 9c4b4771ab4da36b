/** @file The law of layouts: a literal list of rules, all asked, all answers returned. */
import { type Issue, issue } from '../errors/index.ts';
import { checkValues } from './check-values.ts';
import type { LayoutJob } from './job.ts';
import { contextRules } from './rules/context.ts';
import { batchRules, degreeRules, orderRules, reductionRules } from './rules/degrees.ts';
import { expertRules, expertSequenceRules } from './rules/experts.ts';
import { frameworkChecker } from './rules/framework.ts';
import { overrideRules } from './rules/overrides.ts';
import { layerRules, overlapRules, scheduleRules } from './rules/pipeline.ts';
import type { LayoutRule } from './rules/rule.ts';
import { shardRules } from './rules/shards.ts';
import { lossRules, sequenceRules, tensorRules } from './rules/tensor.ts';
import type { Layout } from './types.ts';

/** Every rule, in the order of the issues. */
export const layoutRules: readonly LayoutRule[] = [
  ...degreeRules,
  ...contextRules,
  ...batchRules,
  ...reductionRules,
  ...orderRules,
  ...shardRules,
  ...tensorRules,
  ...expertRules,
  ...sequenceRules,
  ...expertSequenceRules,
  ...lossRules,
  ...layerRules,
  ...overrideRules,
  ...scheduleRules,
  ...overlapRules,
];

/** All violations of a complete layout at once, each with both values and the nearest legal ones; empty when legal. What
 * every program must hold comes first, then what the job's framework refuses beyond that. */
export function checkLayout(job: LayoutJob, layout: Layout): readonly Issue[] {
  const issues = checkValues(layout);
  const unusable = new Set(issues.map((each) => each.path));
  for (const rule of layoutRules) {
    if (rule.reads.some((key) => unusable.has(`layout.${key}`))) continue;
    const found = rule.find(job, layout);
    if (!found) continue;
    issues.push(issue(rule.code, `layout.${found.key ?? rule.key}`, found.message, found.hint, found.values));
  }
  if (unusable.size > 0) return issues;
  const said = new Set(issues.map(({ code }) => code));
  return [...issues, ...frameworkChecker(job)(layout).filter(({ code }) => !said.has(code))];
}
