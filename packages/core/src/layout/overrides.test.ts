import { describe, expect, it } from 'vitest';
import { overridesWithEffect, recomputeOfLayers } from './overrides.ts';
import { sampleJob } from './sample.fixture.ts';
import type { Layout } from './types.ts';

const unfused = sampleJob({ attention: 'unfused' });
const given = (recompute: Layout['recompute'], ...layers: Layout['layers']) =>
  overridesWithEffect(unfused, { recompute, layers });

describe('overrides in normal form', () => {
  it('are none where they say what the layout says', () => {
    expect(given('full', { from: 0, to: 3, recompute: 'full' })).toEqual({ recompute: 'full', layers: [] });
  });
  it('are the layout where they speak of all layers', () => {
    expect(given('none', { from: 0, to: 31, recompute: 'full' })).toEqual({ recompute: 'full', layers: [] });
  });
  it('say what the fewer layers do, whichever way round they were given', () => {
    const wanted = { recompute: 'full', layers: [{ from: 0, to: 9, recompute: 'none' }] };
    expect(given('none', { from: 10, to: 31, recompute: 'full' })).toEqual(wanted);
    expect(given('full', { from: 0, to: 4, recompute: 'none' }, { from: 5, to: 9, recompute: 'none' })).toEqual(wanted);
  });
  it('drop what has no effect: selective recomputation of blockwise attention', () => {
    const flash = sampleJob({ attention: 'flash' });
    const layers = [{ from: 0, to: 3, recompute: 'selective' as const }];
    expect(overridesWithEffect(flash, { recompute: 'none', layers })).toEqual({ recompute: 'none', layers: [] });
  });
  it('are what each layer does', () => {
    const layers = [{ from: 1, to: 2, recompute: 'full' as const }];
    expect(recomputeOfLayers({ recompute: 'none', layers }, 4)).toEqual(['none', 'full', 'full', 'none']);
  });
});
