/** @file The space of layouts that the job's framework takes. */
import type { LayoutJob } from './job.ts';
import { frameworkChecker } from './rules/framework.ts';
import { type LayoutSpace, layoutSpaceOf, type RejectedLayouts } from './space.ts';
import type { SplitCosts } from './split.ts';
import type { Layout, LayoutRequest } from './types.ts';

/** {@link layoutSpaceOf} without what the job's framework refuses. */
export const layoutSpace = (job: LayoutJob, request: LayoutRequest, costs: SplitCosts): LayoutSpace =>
  // The default profile refuses nothing of its own: its layouts are not even built to be checked.
  layoutSpaceOf(job, request, costs, job.framework === 'meshwright' ? undefined : frameworkChecker(job));

/** {@link layoutSpace} for those who only want the layouts. */
export const enumerateLayouts = (job: LayoutJob, request: LayoutRequest, costs: SplitCosts): Iterable<Layout> =>
  layoutSpace(job, request, costs).layouts();

/** {@link layoutSpace} for those who only want the counts. */
export const countRejected = (job: LayoutJob, request: LayoutRequest, costs: SplitCosts): RejectedLayouts =>
  layoutSpace(job, request, costs).rejected;
