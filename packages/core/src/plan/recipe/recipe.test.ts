import { describe, expect, it } from 'vitest';
import { planJob } from '../index.ts';
import { presetJob, smallJob } from '../sizes/jobs.fixture.ts';
import { planRecipe } from './index.ts';

describe('recipes', { timeout: 120_000 }, () => {
  it('fill the domain with tensor 8 and take the fewest stages that fit', () => {
    const job = presetJob('llama-2-70b', '8x dgx-h100', { batch: { sequences: 512, length: 4096 } });
    const { plans, recipe } = planJob(job, { top: 1, recipe: 'starting-point' });
    expect(recipe?.layout).toMatch(/^tp=8,pp=1,dp=8,/);
    expect(recipe?.costOverSearch).toBeCloseTo((recipe?.seconds ?? 0) / (plans[0]?.step.seconds ?? 1) - 1, 12);
    expect(recipe?.costOverSearch).toBeGreaterThanOrEqual(0);
    expect(recipe?.unmet).toEqual([]);
  });

  it('of 2026 has two to four stages and a bubble under 5 %', () => {
    const job = presetJob('llama-2-70b', '8x dgx-h100', { batch: { sequences: 512, length: 4096 } });
    const recipe = planRecipe(job, '2026', undefined);
    expect(recipe.layout).toMatch(/^tp=8,pp=[234],/);
    expect(recipe.bubbleShare).toBeLessThan(0.05);
  });

  it('say when no depth keeps the bubble small, and take the nearest', () => {
    const few = smallJob('2x dgx-a100', { batch: { sequences: 2, length: 1024 } });
    const { unmet, tried, layout } = planRecipe(few, '2026', undefined);
    expect(tried).toHaveLength(1);
    expect(layout).toMatch(/^tp=8,pp=2,/);
    expect(unmet[0]).toMatch(/^its bubble is \d+\.\d %, not under 5\.0 %/);
  });

  it('find nothing where the GPUs have no such depth', () => {
    expect(planRecipe(smallJob('1x dgx-a100'), '2026', undefined)).toMatchObject({
      tried: [],
      unmet: ['no number of stages that it allows divides the GPUs.'],
    });
  });

  it('have tensor 1 where no link joins GPUs', () => {
    expect(planRecipe(smallJob('1x pcie-8x-a100'), 'starting-point', undefined).layout).toMatch(/^tp=1,/);
  });
});
