import { type Planned, planJob } from '@meshwright/core/plan';
import type { Scenario } from '../scenario/scenario.ts';
import { jobOf } from './job-of.ts';

const ROWS = 10;

/** The best layouts of a scenario, evaluated, each in full. Throws an InputError for a scenario that is no job. */
export const planOf = (scenario: Scenario): Planned => planJob(jobOf(scenario), { top: ROWS });
