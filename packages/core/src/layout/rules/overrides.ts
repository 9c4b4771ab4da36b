/** @file Rules of overrides for single layers. */
import type { LayerOverride } from '../types.ts';
import type { LayoutRule } from './rule.ts';

const isWithin = ({ from, to }: LayerOverride, layers: number): boolean =>
  Number.isInteger(from) && Number.isInteger(to) && from >= 0 && from <= to && to < layers;

/** Rules of rows of layers. */
export const overrideRules: readonly LayoutRule<'layers'>[] = [
  {
    code: 'OVERRIDE_OUT_OF_RANGE',
    key: 'layers',
    reads: ['layers'],
    source: 'a model has so many layers',
    find: (job, { layers }) => {
      const count = job.model.layers.length;
      const odd = layers.find((each) => !isWithin(each, count));
      if (odd === undefined) return undefined;
      return {
        message: `layers ${odd.from} to ${odd.to} are not a row of the ${count} layers, which are counted from 0.`,
        hint: `Use from <= to, both from 0 to ${count - 1}.`,
        values: { from: odd.from, to: odd.to, layers: count },
      };
    },
  },
  {
    code: 'OVERRIDES_OVERLAP',
    key: 'layers',
    reads: ['layers'],
    source: 'a layer does one thing',
    find: (_job, { layers }) => {
      const sorted = [...layers].sort((a, b) => a.from - b.from);
      const at = sorted.findIndex((each, index) => index > 0 && each.from <= (sorted[index - 1]?.to ?? -1));
      const [before, after] = [sorted[at - 1], sorted[at]];
      if (before === undefined || after === undefined) return undefined;
      return {
        message: `layer ${after.from} stands in two rows, ${before.from} to ${before.to} and ${after.from} to ${after.to}.`,
        hint: 'Give each layer one row.',
        values: { layer: after.from },
      };
    },
  },
];
