/** @file From what a user gives to a complete layout: defaults, and what is wrong with the result. */
import { type Issue, issue } from '../errors/index.ts';
import { withDefaults, withReplicas } from './defaults.ts';
import type { LayoutJob } from './job.ts';
import { checkLayout } from './legality.ts';
import { normalizeLayout } from './normal.ts';
import { defaultOverlap, overlapOf } from './overlap.ts';
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
  return { layout, issues: [...issues, ...withoutEffect(request, layout, job)], defaulted };
}

function withoutEffect(request: LayoutRequest, layout: Layout, job: LayoutJob): readonly Issue[] {
  const scalars = Object.keys(request).filter((key): key is keyof Layout => Object.hasOwn(layout, key));
  return scalars.flatMap((key) => {
    const given = request[key];
    if (key === 'overlap') return overlapWithoutEffect(request, layout, job);
    if (given === undefined || typeof given === 'object' || given === layout[key]) return [];
    // With overrides it is the word for most layers, whichever way round it was given.
    if (key === 'recompute' && layout.layers.length > 0) return [];
    return [noteOn(key, shown(given), shown(layout[key]))];
  });
}

const noteOn = (key: keyof Layout, given: string, reads: string): Issue => ({
  ...issue(
    'LAYOUT_KEY_WITHOUT_EFFECT',
    `layout.${key}`,
    `${key} ${given} has no effect in this layout and reads as ${reads}.`,
    'Leave the key out.',
  ),
  severity: 'note',
});

/** Where nothing that is named or left out matters. Under sharding 3 the key may stand for a prefetch of 0. */
function overlapWithoutEffect(request: LayoutRequest, layout: Layout, job: LayoutJob): readonly Issue[] {
  const given = overlapOf(request.overlap ?? layout.overlap);
  const usual = defaultOverlap(job, layout.sharding);
  const same = given === layout.overlap || layout.overlap !== usual;
  if (same || (layout.sharding === 3 && !given.includes('parameters'))) return [];
  return [noteOn('overlap', given.join('+') || 'none', layout.overlap.join('+') || 'none')];
}

const shown = (value: unknown): string => (typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value));
