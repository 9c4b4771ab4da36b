import { describe, expect, it } from 'vitest';
import { createCluster, type PresetName, presetNames } from '../cluster/index.ts';
import { createJob, type JobInput } from '../job/index.ts';
import { modelFromPreset } from '../model/index.ts';
import { type OrderSearch, searchOrders } from './orders.ts';

const { model } = modelFromPreset('llama-2-7b', 'model');
if (!model) throw new Error('no llama-2-7b');

/** Two link domains or nodes at least, tensor as wide as the fast links allow up to 8, two stages, the rest data. */
function searchOn(cluster: JobInput['cluster'], tensor: number, pipeline = 2): OrderSearch {
  const gpus = cluster.nodes * cluster.gpusPerNode;
  const data = gpus / (tensor * pipeline);
  const precision = cluster.device.gemm.bf16 === undefined ? ('fp16' as const) : ('bf16' as const);
  const job = createJob({
    model: model as JobInput['model'],
    cluster,
    precision,
    batch: { sequences: 16 * data, length: 2048 },
  });
  return searchOrders(job, { tensor, pipeline, data, sharding: 1 });
}

const powerUpTo = (most: number): number => 2 ** Math.floor(Math.log2(Math.max(1, most)));

/** Four nodes, or four link domains where those are larger; tensor as wide as the fast links allow, up to 8. */
function placementOn(preset: PresetName): { readonly found: OrderSearch; readonly inDomain: boolean } {
  const one = createCluster(preset);
  const domain = Math.max(one.gpusPerNode, one.intra.gpus);
  const fast = one.intra.gpus > 1 ? one.intra.gpus : one.gpusPerNode;
  const tensor = Math.max(2, Math.min(8, powerUpTo(fast)));
  // Two devices of one each are the least that has three axes.
  const nodes = domain === 1 ? 8 : (4 * domain) / one.gpusPerNode;
  return { found: searchOn(createCluster(preset, nodes), tensor), inDomain: one.intra.gpus >= tensor };
}

/** What the best order looks like on each preset: usual, or the code of the exception. */
const verdicts = presetNames.map((preset) => {
  const { found, inDomain } = placementOn(preset);
  return {
    preset,
    inDomain,
    found,
    verdict: found.usual === true ? 'usual' : (found.exception?.code ?? 'unexplained'),
  };
});

describe('the best order of the axes by exhaustive search', () => {
  it.each(verdicts)('on $preset is usual or has a reason: $verdict', ({ found, verdict }) => {
    expect(found.tried.length).toBe(6);
    expect(found.tried.map(({ seconds }) => seconds)).toEqual(
      found.tried.map(({ seconds }) => seconds).toSorted((a, b) => a - b),
    );
    if (verdict === 'usual') expect(found.exception).toBeUndefined();
    else expect(found.exception?.words).toMatch(/innermost gains [\d.]+ (ms|us) a step: .*compute waits/);
    expect(verdict).not.toBe('unexplained');
  });
  it.each(verdicts.filter(({ verdict }) => verdict !== 'usual'))(
    'on $preset, where it is another one, loses what compute waits longer, over links that are named',
    ({ found: { exception } }) => {
      const placements = exception?.placements ?? [];
      const waits = placements.reduce((sum, { usual, best }) => sum + usual.waitedSeconds - best.waitedSeconds, 0);
      expect(waits / (exception?.lostSeconds ?? 0)).toBeCloseTo(1, 6);
      const tensor = placements.find(({ axis }) => axis === 'tensor');
      const sent = (tiers: readonly { readonly bytesPerRank: number }[] = []): number =>
        tiers.reduce((sum, { bytesPerRank }) => sum + bytesPerRank, 0);
      // An order moves bytes to other links; it sends none more and none less.
      expect(sent(tensor?.usual.tiers)).toBeGreaterThan(0);
      expect(sent(tensor?.best.tiers) / sent(tensor?.usual.tiers)).toBeCloseTo(1, 9);
      expect(tensor?.best.tiers).not.toEqual(tensor?.usual.tiers);
    },
  );
  it('is the usual one wherever fast links hold the tensor group, but for a few where it is nearly as fast', () => {
    const others = verdicts.filter(({ inDomain, verdict }) => inDomain && verdict !== 'usual');
    expect(others.length).toBeLessThan(6);
    for (const { found, verdict } of others) {
      const { usual = 0, best = 1 } = found.exception?.gatherSeconds ?? {};
      expect(verdict).toBe(best <= usual ? 'TENSOR_LOSES_NOTHING' : 'ANOTHER_AXIS_IS_HEAVIER');
      // The usual order is slower by less than the twentieth part of a step.
      expect(found.exception?.lostSeconds).toBeLessThan((found.tried[0]?.seconds ?? 0) / 20);
    }
  });
  it('puts tensor innermost by a wide margin over tensor outermost', () => {
    for (const preset of ['dgx-a100', 'dgx-h100', 'mi300x-8x', 'gb200-nvl72', 'aws-p4d'] as const) {
      const { tried, best } = verdicts.find((each) => each.preset === preset)?.found ?? { tried: [], best: [] };
      const worst = Math.max(...tried.filter(({ order }) => order.at(-1) === 'tensor').map(({ seconds }) => seconds));
      expect(worst / (best[0]?.seconds ?? worst), preset).toBeGreaterThan(1.2);
    }
  });
});

describe('reasons', () => {
  it('name a tensor group that is larger than its link domain', () => {
    const found = searchOn(createCluster('oci-l40s', 4), 4);
    expect(found).toMatchObject({ usual: false, exception: { code: 'TENSOR_LEAVES_DOMAIN', axis: 'data' } });
    expect(found.exception?.words).toContain('tensor 4 is larger than a link domain of 1');
  });
  it('are not asked for where tensor is 1', () => {
    expect(searchOn(createCluster('dgx-h100', 2), 1).usual).toBeUndefined();
  });
});
