import { planJob } from '@meshwright/core/plan';
import { describe, expect, it } from 'vitest';
import { type Found, rowsOf, withPart } from '../app/rows.ts';
import { firstScenario, type Scenario } from '../scenario/scenario.ts';
import { jobOf } from './job-of.ts';
import { createPlanner } from './plan.ts';
import { presetJob } from './preset-job.ts';
import { createQuickPlanner } from './quick.ts';

const small: Scenario = { ...firstScenario, model: 'gpt2', nodes: 1, sequences: 16, length: 512 };
const edits: readonly Partial<Scenario>[] = [
  { sequences: 32 },
  { layout: { tensor: 2 } },
  { nodes: 2 },
  { sequences: 64, length: 1024 },
];

describe('the job of a scenario that names presets', () => {
  it('is the one that the readers make of it', () => {
    for (const edit of [{}, ...edits, { host: 'gb200-nvl72', nodes: 18 }, { precision: 'fp16' } as const]) {
      const scenario = { ...small, ...edit };
      expect(presetJob(scenario)).toEqual(jobOf(scenario));
    }
  });

  it('is left to the readers where something is changed, dropped or wrong', () => {
    for (const edit of [
      { linkGbps: 200 },
      { gpu: 'H200-SXM' },
      { host: 'dgx-9000' },
      { model: 'llama-9' },
      { nodes: 1e6 },
    ])
      expect(presetJob({ ...small, nodes: 2, ...edit })).toBeUndefined();
  });
});

describe('ranking while somebody types', () => {
  it('answers as if nothing had been asked before, whatever was edited', () => {
    const quick = createQuickPlanner();
    for (const edit of [{}, ...edits]) {
      const scenario = { ...small, ...edit };
      for (const reach of ['first', 'usual'] as const)
        expect(quick(scenario, jobOf(scenario), reach)).toEqual(createQuickPlanner()(scenario, jobOf(scenario), reach));
    }
  });

  it('looks at one sequence at a time first, then at more', () => {
    const quick = createQuickPlanner();
    const first = quick(small, jobOf(small), 'first');
    expect(first.rows.every(({ layout }) => layout.microBatch === 1)).toBe(true);
    expect(first.bounded).toBeLessThan(quick(small, jobOf(small), 'usual').bounded);
  });
});

describe('a plan in parts', () => {
  it('ends with the plan of the library, which its rows have become by then', () => {
    const planner = createPlanner();
    for (const scenario of [small, { ...small, sequences: 32 }]) {
      const parts = planner(scenario);
      let found: Found | undefined;
      const states = new Set<string>();
      for (;;) {
        const { done, value } = parts.next();
        if (done) {
          expect(value).toEqual(planJob(jobOf(scenario), { top: 10 }));
          expect(rowsOf(undefined, found, found?.shown ?? [])).toEqual(rowsOf(undefined, undefined, value.plans));
          break;
        }
        found = withPart(found, value);
        const rows = rowsOf(undefined, found, found.shown);
        expect(new Set(rows.map(({ short }) => short)).size).toBe(found.rows.length);
        states.add(rows.map(({ state }) => state).join());
      }
      expect([...states][0]).toMatch(/^evaluated(,evaluated)*$/);
      expect([...states].at(-1)).toMatch(/^simulated(,simulated)*$/);
    }
  });
});
