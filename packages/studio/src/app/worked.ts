/** @file The plan of the first scenario, which the build has computed with the engine of the page and put into the page: the
 * worked example is there before any worker has started.
 */
import type { Planned } from '@meshwright/core/plan';
import type { QuickPlan } from '../engine/quick.ts';
import type { Scenario } from '../scenario/scenario.ts';

/** A scenario with its answers. */
export interface Worked {
  readonly scenario: Scenario;
  readonly quick: QuickPlan;
  readonly planned: Planned;
}

/** What the page was built with; undefined where the build left it out. */
export function readWorked(page: Document): Worked | undefined {
  const text = page.getElementById('worked')?.textContent;
  return text ? (JSON.parse(text) as Worked) : undefined;
}
