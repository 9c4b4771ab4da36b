/** @file What else could be: changes of one layout that take bytes away or time, and other links and devices. Each is a
 * whole new evaluation; nothing is scaled.
 */
import { InputError } from '@meshwright/core/errors';
import { formatLayout, type Layout, type LayoutRequest } from '@meshwright/core/layout';
import { planJob, type Shown, showLayout } from '@meshwright/core/plan';
import type { Scenario } from '../scenario/scenario.ts';
import { changesOf } from './changes.ts';
import { jobOf } from './job-of.ts';

/** One change of a layout, with what it takes and gives. */
export interface Variant {
  readonly words: string;
  readonly request: LayoutRequest;
  readonly short: string;
  /** Of the fullest stage, as the device sees it, and of the step; differences to the layout that is changed. */
  readonly bytesLess: number;
  readonly secondsMore: number;
  /** What the fullest GPU then holds. */
  readonly deviceBytes: number;
  readonly fits: boolean;
}

const fullest = ({ memory }: Shown): number => Math.max(...memory.stages.map(({ deviceBytes }) => deviceBytes));

/** Changes of `layout` that are legal, those that free most first. */
export function memoryVariants(scenario: Scenario, layout: Layout): readonly Variant[] {
  const job = jobOf({ ...scenario, layout: {} });
  const { layersPerStage: _, ...keys } = layout;
  const before = showLayout(job, layout);
  return changesOf(layout)
    .flatMap(([words, change]): readonly Variant[] => {
      try {
        const keepsSplit = change.pipeline === undefined && change.chunks === undefined;
        const after = showLayout(job, {
          ...keys,
          ...(keepsSplit && { layersPerStage: layout.layersPerStage }),
          ...change,
        });
        const bytesLess = fullest(before) - fullest(after);
        if (bytesLess <= 0) return [];
        const secondsMore = after.step.seconds - before.step.seconds;
        return [
          {
            words,
            request: after.layout,
            short: formatLayout(after.layout),
            bytesLess,
            secondsMore,
            deviceBytes: fullest(after),
            fits: after.memory.verdict === 'fits',
          },
        ];
      } catch (error) {
        if (error instanceof InputError) return [];
        throw error;
      }
    })
    .sort((a, b) => b.bytesLess - a.bytesLess);
}

/** The best plan of a changed scenario. */
export interface WhatIf {
  readonly words: string;
  readonly scenario: Scenario;
  readonly best: { readonly short: string; readonly seconds: number; readonly deviceBytes: number } | undefined;
  /** Step of the layout that was best before, under the change; undefined where it is not legal or does not fit. */
  readonly same: number | undefined;
}

/** One change of a scenario. */
export function whatIf(words: string, scenario: Scenario, layout: LayoutRequest | undefined): WhatIf {
  const job = jobOf(scenario);
  const [best] = planJob(job, { top: 1 }).plans;
  return {
    words,
    scenario,
    best:
      best && best.memory.verdict === 'fits'
        ? { short: best.layout.short, seconds: best.step.seconds, deviceBytes: fullest(best) }
        : undefined,
    same: layout && sameLayout(scenario, layout),
  };
}

function sameLayout(scenario: Scenario, layout: LayoutRequest): number | undefined {
  try {
    const shown = showLayout(jobOf({ ...scenario, layout: {} }), layout);
    return shown.memory.verdict === 'does-not-fit' ? undefined : shown.step.seconds;
  } catch (error) {
    if (error instanceof InputError) return undefined;
    throw error;
  }
}
