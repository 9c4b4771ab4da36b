import { compileProgram } from '@meshwright/core/compile';
import { completeLayout, formatLayout } from '@meshwright/core/layout';
import { createEvaluator, splitCosts } from '@meshwright/core/plan';
import { pricesOf, simulateProgram, timelineOf } from '@meshwright/core/sim';
import { timelineColumns } from '@meshwright/core/timeline';
import { describe, expect, it } from 'vitest';
import { firstScenario, type Scenario } from '../scenario/scenario.ts';
import { readDrop } from './drop.ts';
import { jobOf } from './job-of.ts';
import { overlayOfRun } from './overlay.ts';

const scenario: Scenario = {
  ...firstScenario,
  model: 'gpt2',
  nodes: 1,
  host: 'dgx-h100',
  sequences: 8,
  length: 64,
  layout: {},
};

/** The report of a run whose operations each took twice of what is simulated. */
function runOf(of: Scenario): Readonly<Record<string, unknown>> {
  const job = jobOf(of);
  const { layout } = completeLayout({ tensor: 1, pipeline: 2, sharding: 1 }, job, splitCosts(job));
  const program = compileProgram(job, layout);
  const timeline = timelineOf(simulateProgram(program, pricesOf(program, createEvaluator(job).pricesOf(layout))));
  const { lanes, rank, lane, operation, start, end } = timelineColumns(timeline);
  // One rank of each stage was simulated; the four of a stage run alike.
  const four = <Value>(column: readonly Value[], change: (value: Value, copy: number) => Value): readonly Value[] =>
    [0, 1, 2, 3].flatMap((copy) => column.map((value) => change(value, copy)));
  return {
    schema: 'meshwright.run/1',
    job: 'a run',
    layout: formatLayout(layout),
    timeline: {
      lanes,
      rank: four(rank, (value, copy) => value + copy),
      lane: four(lane, (value) => value),
      operation: four(operation, (value) => value),
      start: four(start, (value) => 2 * value),
      end: four(end, (value) => 2 * value),
    },
  };
}

describe('a run that is dropped', () => {
  const run = runOf(scenario);

  it('is laid over the simulated step of its layout: each slice knows when it was predicted, kinds side by side', () => {
    const read = readDrop('run.json', `{"schema":"meshwright.step/1"}\n${JSON.stringify(run)}\n`, scenario);
    if (read.kind !== 'trace' || typeof read.overlay !== 'object') throw new Error(JSON.stringify(read).slice(0, 400));
    expect(read.says).toContain('run.json is laid over the simulated step of its layout, tp=1,pp=2,dp=4');
    const { detail, overlay } = read.overlay;
    expect(overlay.measuredSeconds / overlay.simulatedSeconds).toBeCloseTo(2, 6);
    for (const { what, simulated, measured } of overlay.kinds) {
      if (simulated > 1e-6) expect(measured / simulated, what).toBeCloseTo(2, 2);
    }
    const { start, end, predicted } = detail;
    expect(predicted?.seconds).toBeCloseTo(overlay.simulatedSeconds, 9);
    // Collectives begin when their last rank has come, so that only ends are twice of what is predicted.
    end.forEach((each, index) => expect(each / 2).toBeCloseTo(predicted?.end[index] ?? -1, -1));
    expect(start).toHaveLength(predicted?.start.length ?? -1);
    expect(read.overlay.replay).toBe('it does not say what its ranks took from each other and held');
    expect(detail.seconds).toBeCloseTo(overlay.measuredSeconds, 9);
  });

  it('is explained where it is of something else, and shown as it was written', () => {
    expect(overlayOfRun({ ...scenario, nodes: 2 }, run)).toBe('it ran on 8 ranks, and this scenario has 16 GPUs');
    expect(overlayOfRun({ ...scenario, sequences: 16 }, run)).toContain(
      'the model, its layers or the batch are others',
    );
    expect(overlayOfRun({ ...scenario, model: 'gpt2-xl' }, run)).toContain(
      'does not stand here: 12 layers in the list',
    );
    expect(overlayOfRun(scenario, { ...run, layout: 'tp=3' })).toContain('its layout tp=3 does not stand here');
    expect(overlayOfRun(scenario, { ...run, timeline: { lanes: [] } })).toContain('no step whose operations are timed');
    const read = readDrop('run.json', JSON.stringify(run), { ...scenario, model: 'no-such-model' });
    expect(read).toMatchObject({ kind: 'trace', overlay: expect.stringContaining('cannot be simulated') });
  });
});
