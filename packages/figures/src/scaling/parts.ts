/** @file Where the time of GPUs goes, in few groups: what is computed, and what is waited for. */
import type { SweepPoint } from '@meshwright/core/plan';
import { operationColour } from '../palette/index.ts';

/** One group of the parts of a step. */
export interface PartGroup {
  readonly name: string;
  readonly parts: readonly (keyof SweepPoint['partsSeconds'])[];
  readonly fill: string;
  /** Drawn over the fill: what is idle or done again has a hatch beside its colour. */
  readonly hatch?: string;
}

/** From the bottom of a bar to its top; together they are all parts of a step. */
export const partGroups: readonly PartGroup[] = [
  { name: 'products and attention', parts: ['ideal', 'inefficiency'], fill: operationColour('forward') },
  { name: 'other kernels', parts: ['memoryBound'], fill: operationColour('backward') },
  { name: 'forward again', parts: ['recompute'], fill: operationColour('forward'), hatch: 'url(#mw-again)' },
  { name: 'norm and optimizer', parts: ['optimizer'], fill: operationColour('optimizer') },
  {
    name: 'waiting for exchanges',
    parts: ['tensor', 'context', 'expert', 'data', 'pipelineSend', 'offload'],
    fill: operationColour('collective'),
  },
  { name: 'waiting for other stages, or the host', parts: ['bubble', 'host'], fill: 'none', hatch: 'url(#mw-idle)' },
];

/** Share of a step that each of {@link partGroups} takes. */
export const sharesOf = ({ partsSeconds, seconds }: SweepPoint): readonly number[] =>
  partGroups.map(({ parts }) => parts.reduce((sum, part) => sum + partsSeconds[part], 0) / seconds);
