import { type Issue, issue } from '../errors/index.ts';
import type { ClusterSpec } from './types.ts';

/** `cluster` is present exactly when no issue is an error. */
export interface ClusterResult {
  readonly cluster?: ClusterSpec;
  readonly issues: readonly Issue[];
}

/** The cluster that a user names, or every issue with what was given. */
export function clusterFromRequest(value: unknown, path: string): ClusterResult {
  return { issues: [issue('VALUE_WRONG_TYPE', path, `not read yet: ${String(value)}.`)] };
}
