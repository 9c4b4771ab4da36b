import { planJob } from '@meshwright/core/plan';
import { describe, expect, it } from 'vitest';
import { type Found, rowsOf, withPart } from '../app/rows.ts';
import { firstScenario, type Scenario } from '../scenario/scenario.ts';
import { jobOf } from './job-of.ts';
import { createPlanner } from './plan.ts';
import { createQuickPlanner } from './quick.ts';

const small: Scenario = { ...firstScenario, model: 'gpt2', nodes: 1, sequences: 16, length: 512 };
const edits: readonly Partial<Scenario>[] = [
  { sequences: 32 },
  { layout: { tensor: 2 } },
  { nodes: 2 },
  { sequences: 64, length: 1024 },
];

describe('ranking while somebody types', () => {
  it('answers as if nothing had been asked before, whatever was edited', () => {
    const quick = createQuickPlanner();
    for (const edit of [{}, ...edits]) {
      const scenario = { ...small, ...edit };
      for (const reach of ['first', 'usual'] as const)
        expect(quick(scenario, reach)).toEqual(createQuickPlanner()(scenario, reach));
    }
  });

  it('looks at one sequence at a time first, then at more', () => {
    const quick = createQuickPlanner();
    const first = quick(small, 'first');
    expect(first.rows.every(({ layout }) => layout.microBatch === 1)).toBe(true);
    expect(first.bounded).toBeLessThan(quick(small, 'usual').bounded);
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
