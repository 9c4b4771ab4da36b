import type { Issue } from '@meshwright/core/errors';

/** What the worker found wrong with what it was asked. */
export class AskError extends Error {
  readonly issues: readonly Issue[];
  constructor(issues: readonly Issue[]) {
    super(issues.map(({ message, hint = '' }) => `${message} ${hint}`.trim()).join(' '));
    this.name = 'AskError';
    this.issues = issues;
  }
}
