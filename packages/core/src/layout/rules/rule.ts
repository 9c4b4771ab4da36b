import type { Code, Issue } from '../../errors/index.ts';
import type { LayoutJob } from '../job.ts';
import type { Layout } from '../types.ts';

/** What a rule found wrong. */
export interface Finding {
  /** The key to point at; the rule's own when absent. */
  readonly key?: keyof Layout;
  readonly message: string;
  readonly hint: string;
  /** `fits`: values of the key at which this rule is content. */
  readonly values: NonNullable<Issue['values']>;
}

/** One law of layouts. */
export interface LayoutRule {
  readonly code: Code;
  /** The key that it speaks of first. */
  readonly key: keyof Layout;
  /** Keys that it reads: it is not asked while one of them has no sensible value. */
  readonly reads: readonly (keyof Layout)[];
  /** Who else says so. */
  readonly source: string;
  readonly find: (job: LayoutJob, layout: Layout) => Finding | undefined;
}

/** The part of a model's layers that rules look at: each distinct layer once. */
export const distinctLayers = (job: LayoutJob): readonly LayoutJob['model']['layers'][number][] => [
  ...new Set(job.model.layers),
];
