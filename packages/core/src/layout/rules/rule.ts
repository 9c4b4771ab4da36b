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

/** One law of layouts; it sees the keys that it reads and no others. */
export interface LayoutRule<Key extends keyof Layout = keyof Layout> {
  readonly code: Code;
  /** The key that it speaks of first. */
  readonly key: keyof Layout;
  /** Keys that it reads: it is not asked while one of them has no sensible value. */
  readonly reads: readonly Key[];
  /** Who else says so. */
  readonly source: string;
  readonly find: (job: LayoutJob, layout: Pick<Layout, Key>) => Finding | undefined;
}

/** The part of a model's layers that rules look at: each distinct layer once. */
export const distinctLayers = (job: LayoutJob): readonly LayoutJob['model']['layers'][number][] => [
  ...new Set(job.model.layers),
];

/** The code of the first of `rules` that `layout` breaks. */
export const firstBroken = <Key extends keyof Layout>(
  rules: readonly LayoutRule<Key>[],
  job: LayoutJob,
  layout: Pick<Layout, Key>,
): Code | undefined => rules.find((rule) => rule.find(job, layout) !== undefined)?.code;
