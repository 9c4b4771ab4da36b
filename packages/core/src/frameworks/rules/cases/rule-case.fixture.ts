import type { Code } from '../../../errors/index.ts';
import type { FrameworkName } from '../../types.ts';
import type { FrameworkSetup } from '../index.ts';

/** A setup that breaks a rule of a framework, and what just mends it. */
export interface RuleCase {
  readonly code: Code;
  readonly framework: FrameworkName;
  readonly breaks: FrameworkSetup;
  /** Changes that just mend it. */
  readonly passes: FrameworkSetup;
  readonly says: string;
}
