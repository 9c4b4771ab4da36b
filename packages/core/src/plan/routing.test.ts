import { describe, expect, it } from 'vitest';
import { clusterFromRequest } from '../cluster/index.ts';
import { compileProgram } from '../compile/index.ts';
import { networkOf } from '../cost/index.ts';
import { InputError } from '../errors/index.ts';
import { createJob, type RoutingSpec } from '../job/index.ts';
import { completeLayout } from '../layout/index.ts';
import { modelFromPreset } from '../model/index.ts';
import { simulateShared } from '../sim/index.ts';
import { createEvaluator } from './evaluate/index.ts';
import { evaluateLayout } from './search.ts';
import { splitCosts } from './split-costs.ts';

const { model } = modelFromPreset('mixtral-8x7b', 'model');
const { cluster } = clusterFromRequest('2x dgx-h100', 'cluster');
if (!model || !cluster) throw new Error('internal: the fixture is broken.');

const jobWith = (routing: RoutingSpec) =>
  createJob({ name: 'routing', model, cluster, batch: { sequences: 32, length: 4096 }, routing });

function evaluated(routing: RoutingSpec, expert = 8) {
  const job = jobWith(routing);
  const { layout } = completeLayout(
    { tensor: 1, pipeline: 1, expert, microBatch: 1, sharding: 1, recompute: 'full' },
    job,
    splitCosts(job),
  );
  const evaluator = createEvaluator(job);
  const { evaluation } = evaluateLayout(evaluator, layout);
  return { job, layout, evaluator, seconds: evaluation.seconds, bytes: Math.max(...evaluation.peakBytes) };
}

describe('routing of a job', () => {
  it('that is uneven takes longer and more memory; nobody says: as long as uniform routing takes, in balanced memory', () => {
    const [equal, assumed, uneven] = [{ imbalance: 1 }, {}, { imbalance: 1.5 }].map((routing) => evaluated(routing));
    if (!equal || !assumed || !uneven) throw new Error('internal: three jobs.');
    expect(assumed.seconds).toBeGreaterThan(equal.seconds);
    expect(assumed.seconds).toBeLessThan(1.03 * equal.seconds);
    expect(uneven.seconds).toBeGreaterThan(1.1 * equal.seconds);
    expect(assumed.bytes).toBe(equal.bytes);
    expect(uneven.bytes).toBeGreaterThan(equal.bytes);
  });

  it('goes by expert, rank or node as it says, evaluated and simulated', () => {
    const ways = (['per-expert', 'per-rank'] as const).map((dispatch) => evaluated({ imbalance: 1, dispatch }, 4));
    const [expert, rank] = ways;
    if (!expert || !rank) throw new Error('internal: two jobs.');
    expect(rank.seconds).toBeLessThan(expert.seconds);
    for (const { job, layout, evaluator, seconds } of ways) {
      const prices = evaluator.pricesOf(layout);
      const step = simulateShared(compileProgram(job, layout), { prices, network: networkOf(cluster) });
      expect(step.seconds).toBeGreaterThanOrEqual(seconds * (1 - 1e-9));
      expect(step.seconds).toBeLessThan(1.2 * seconds);
    }
  });

  it('is refused where the busiest rank has less than the mean, or more than all rows', () => {
    for (const imbalance of [0.5, 9, Number.NaN]) {
      expect(() => jobWith({ imbalance })).toThrow(InputError);
      expect(() => jobWith({ imbalance })).toThrow('is not in [1, 8]');
    }
  });
});
