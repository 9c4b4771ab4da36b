import { createEvaluator, evaluateStep, planJob } from '@meshwright/core/plan';
import { describe, expect, it } from 'vitest';
import { firstScenario } from '../scenario/scenario.ts';
import { jobOf } from './job-of.ts';
import { sensitivityOf } from './sensitivity.ts';

const scenario = { ...firstScenario, model: 'gpt2', nodes: 2, sequences: 32, length: 512 };

describe('the sensitivity of a ranking', () => {
  const job = jobOf(scenario);
  const layouts = planJob(job, { top: 4 }).plans.map(({ layout: { short: _, ...layout } }) => layout);
  const { first, rows } = sensitivityOf(scenario, layouts);

  it('names the range of each assumption, and the part of it in which the first plan stays first', () => {
    expect(rows.map(({ what }) => what)).toContain('Gb/s of a link between hosts');
    for (const { value, low, high, from, to, atLow, atHigh } of rows) {
      expect(low).toBeLessThanOrEqual(from);
      expect(from).toBeLessThanOrEqual(value);
      expect(value).toBeLessThanOrEqual(to);
      expect(to).toBeLessThanOrEqual(high);
      expect(from === low).toBe(atLow === first);
      expect(to === high).toBe(atHigh === first);
    }
  });

  it('prices the ends of a range as an evaluation with that value does', () => {
    const launch = rows.find(({ what }) => what === 'host seconds per kernel launch');
    const evaluator = createEvaluator(job, { launchCompute: launch?.high ?? 0 });
    const seconds = layouts.map((layout) => evaluateStep(evaluator.specOf(layout), evaluator.orderOf(layout)).seconds);
    expect(launch?.secondsHigh).toBeGreaterThanOrEqual(Math.min(...seconds));
    expect(seconds).toContain(launch?.secondsHigh);
  });
});
