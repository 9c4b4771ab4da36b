import { bytesByLaw } from '@meshwright/core/compile';
import type { Job } from '@meshwright/core/job';
import type { Layout } from '@meshwright/core/layout';
import type { ScriptOptions } from './script.ts';

/** The closed forms of a layout as an option of a script; none for axes that the closed forms do not know yet. */
export const lawOf = (job: Job, layout: Layout): ScriptOptions =>
  layout.expert > 1 || layout.context > 1 ? {} : { law: bytesByLaw(job, layout) };
