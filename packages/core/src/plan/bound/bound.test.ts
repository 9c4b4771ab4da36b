import { describe, expect, it } from 'vitest';
import { clusterFromRequest } from '../../cluster/index.ts';
import { createJob, type Job } from '../../job/index.ts';
import { layoutSpace } from '../../layout/index.ts';
import { modelFromDimensions } from '../../model/index.ts';
import { type Mixed, mixedModel } from '../../model/mixed.fixture.ts';
import { createEvaluator, evaluateStep } from '../evaluate/index.ts';
import { splitCosts } from '../split-costs.ts';
import { boundOf } from './index.ts';

const sizes = { layers: 12, hidden: 1024, heads: 16, ffn: 4096, vocab: 32000, positions: 1024 };

function jobOf(kind: 'gpt2' | 'llama' | Mixed, cluster: string, tied: boolean): Job {
  const found = clusterFromRequest(cluster, 'cluster').cluster;
  const model =
    kind === 'gpt2' || kind === 'llama'
      ? modelFromDimensions({ kind, ...sizes, tied }, 'model').model
      : mixedModel(kind, { ...sizes, kvHeads: 4 });
  if (!found || !model) throw new Error('internal: the fixture is broken.');
  return createJob({ name: 'bounded', model, cluster: found, batch: { sequences: 96, length: 1024 } });
}

describe('bound of a layout', () => {
  it.each([
    ['gpt2', '2x dgx-h100', true],
    ['llama', '3x dgx-a100', false],
    ['llama', '1x pcie-8x-a100', true],
    ['experts', '1x dgx-h100', false],
    ['leading', '2x dgx-a100', false],
    ['windows', '1x pcie-8x-a100', true],
    ['latent', '1x dgx-h100', false],
  ] as const)('is at most its evaluation, in time and memory: %s on %s', (kind, cluster, tied) => {
    const job = jobOf(kind, cluster, tied);
    const evaluator = createEvaluator(job);
    let index = 0;
    const above: string[] = [];
    for (const layout of layoutSpace(job, {}, splitCosts(job)).layouts()) {
      index += 1;
      if (index % 41 !== 0) continue;
      const bound = boundOf(evaluator, layout);
      const evaluation = evaluateStep(evaluator.specOf(layout), evaluator.orderOf(layout));
      const peak = Math.max(...evaluation.peakBytes);
      if (bound.seconds > evaluation.seconds * (1 + 1e-12) || bound.peakBytes > peak + 1e-6) {
        above.push(`${JSON.stringify(layout)} ${bound.seconds / evaluation.seconds} ${bound.peakBytes / peak}`);
      }
      if (bound.lightestSeconds > bound.floorSeconds || bound.floorSeconds > bound.computeSeconds) {
        above.push(
          `${JSON.stringify(layout)} has floors above its bound: ${bound.floorSeconds / bound.computeSeconds}`,
        );
      }
      const isRising = bound.stateBytes <= bound.heldBytes && bound.heldBytes <= bound.peakBytes;
      if (bound.computeSeconds > bound.seconds || !isRising) {
        above.push(`${JSON.stringify(layout)} is bounded less by more: ${bound.computeSeconds / bound.seconds}`);
      }
    }
    expect(above).toEqual([]);
    expect(index).toBeGreaterThan(1000);
  });
});
