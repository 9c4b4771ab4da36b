/** @file Values that no rule could be asked about. */
import { type Issue, issue } from '../errors/index.ts';
import { defaultOrder } from '../mesh/index.ts';
import { layoutKeys } from './keys.ts';
import type { LayoutRequest } from './types.ts';

/** Given keys whose value is not even of the right kind; files are checked before, so this is for callers of the library. */
export function checkValues(layout: LayoutRequest): Issue[] {
  const issues: Issue[] = [];
  for (const key of layoutKeys) {
    const value: unknown = layout[key.name];
    const path = `layout.${key.name}`;
    if (value === undefined) continue;
    if (key.type === 'count' || key.type === 'real' || key.type === 'shards') {
      // What does not divide into whole sets is explained by a rule.
      const range = key.type === 'count' ? `a whole number from ${key.min ?? 0} on` : 'a number greater than 0';
      if (key.type === 'count' ? isCount(value, key.min ?? 0) : isPositive(value)) continue;
      issues.push(issue('VALUE_OUT_OF_RANGE', path, `${value} is not ${range}.`, `Use ${range}.`));
    } else if (key.type === 'name' && !(key.names ?? []).includes(String(value))) {
      issues.push(unknown(path, String(value), key.names ?? []));
    } else if (key.type === 'set') {
      const stray = layout.overlap?.find((kind) => !(key.names ?? []).includes(kind));
      if (stray !== undefined) issues.push(unknown(path, stray, key.names ?? []));
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
