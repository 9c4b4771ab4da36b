import { nearestRun, type PublishedRun } from '@meshwright/core/explain';
import type { Scenario } from '../scenario/scenario.ts';
import { jobOf } from './job-of.ts';

/** The published run that is nearest to a scenario; undefined where none is like it. */
export const nearestOf = (scenario: Scenario): PublishedRun | undefined => nearestRun(jobOf(scenario));
