/** @file The law of layouts: a literal list of rules, all asked, all answers returned. */
import { type Issue, issue } from '../errors/index.ts';
import { defaultOrder } from '../mesh/index.ts';
import type { LayoutJob } from './job.ts';
import { layoutKeys } from './keys.ts';
import { contextRules } from './rules/context.ts';
import { batchRules, degreeRules, orderRules, reductionRules } from './rules/degrees.ts';
import { expertRules, expertSequenceRules } from './rules/experts.ts';
import { frameworkChecker } from './rules/framework.ts';
import { layerRules, scheduleRules } from './rules/pipeline.ts';
import type { LayoutRule } from './rules/rule.ts';
import { lossRules, sequenceRules, tensorRules } from './rules/tensor.ts';
import type { Layout, LayoutRequest } from './types.ts';

/** Every rule, in the order of the issues. */
export const layoutRules: readonly LayoutRule[] = [
  ...degreeRules,
  ...contextRules,
  ...batchRules,
  ...reductionRules,
  ...orderRules,
  ...tensorRules,
  ...expertRules,
  ...sequenceRules,
  ...expertSequenceRules,
  ...lossRules,
  ...layerRules,
  ...scheduleRules,
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

/** Given keys whose value is not even of the right kind; files are checked before, so this is for callers of the library. */
export function checkValues(layout: LayoutRequest): Issue[] {
  const issues: Issue[] = [];
  for (const key of layoutKeys) {
    const value: unknown = layout[key.name];
    const path = `layout.${key.name}`;
    if (value === undefined) continue;
    if (key.type === 'count' || key.type === 'real') {
      const range = key.type === 'count' ? `a whole number from ${key.min ?? 0} on` : 'a number greater than 0';
      if (key.type === 'count' ? isCount(value, key.min ?? 0) : isPositive(value)) continue;
      issues.push(issue('VALUE_OUT_OF_RANGE', path, `${value} is not ${range}.`, `Use ${range}.`));
    } else if (key.type === 'name' && !(key.names ?? []).includes(String(value))) {
      issues.push(unknown(path, String(value), key.names ?? []));
    } else if (key.type === 'axes') {
      const stray = layout.order?.find((axis) => !defaultOrder.includes(axis));
      if (stray !== undefined) issues.push(unknown(path, stray, defaultOrder));
    }
  }
  return issues;
}

const unknown = (path: string, value: string, names: readonly string[]): Issue =>
  issue('VALUE_UNKNOWN', path, `${value} is not one of ${names.join(', ')}.`, 'Use one of these.');

const isCount = (value: unknown, min: number): boolean => Number.isSafeInteger(value) && Number(value) >= min;
const isPositive = (value: unknown): boolean => typeof value === 'number' && value > 0 && Number.isFinite(value);
