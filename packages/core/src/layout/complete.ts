/** @file From what a user gives to a complete layout: defaults, and what is wrong with the result. */
import { type Issue, issue } from '../errors/index.ts';
import { withDefaults, withReplicas } from './defaults.ts';
import type { LayoutJob } from './job.ts';
import { checkLayout } from './legality.ts';
import { normalizeLayout } from './normal.ts';
import type { SplitCosts } from './split.ts';
import type { Layout, LayoutRequest } from './types.ts';

/** A complete layout; legal and in normal form when no issue is an error. */
export interface CompletedLayout {
  readonly layout: Layout;
  /** All violations, and a note for each given key that has no effect. */
  readonly issues: readonly Issue[];
  /** Keys that were not given. */
  readonly defaulted: readonly (keyof Layout)[];
}

/** The layout of a request with the defaults of the contract; `data` takes the GPUs that the other degrees leave. */
export function completeLayout(asked: LayoutRequest, job: LayoutJob, costs: SplitCosts): CompletedLayout {
  const request = withReplicas(asked, job);
  const given = withDefaults(request, job, costs);
  const issues = checkLayout(job, given);
  const defaulted = (Object.keys(given) as (keyof Layout)[]).filter((key) => request[key] === undefined);
  if (issues.some((each) => each.severity === 'error')) return { layout: Object.freeze(given), issues, defaulted };
  const layout = Object.freeze(normalizeLayout(job, given));
  return { layout, issues: [...issues, ...withoutEffect(request, layout)], defaulted };
}

function withoutEffect(request: LayoutRequest, layout: Layout): readonly Issue[] {
  const scalars = Object.keys(request).filter((key): key is keyof Layout => Object.hasOwn(layout, key));
  return scalars.flatMap((key) => {
    const given = request[key];
    if (given === undefined || typeof given === 'object' || given === layout[key]) return [];
    // With overrides it is the word for most layers, whichever way round it was given.
    if (key === 'recompute' && layout.layers.length > 0) return [];
    const message = `${key} ${shown(given)} has no effect in this layout and reads as ${shown(layout[key])}.`;
    return [
      { ...issue('LAYOUT_KEY_WITHOUT_EFFECT', `layout.${key}`, message, 'Leave the key out.'), severity: 'note' },
    ];
  });
}

const shown = (value: unknown): string => (typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value));
