/** @file Experts cut over tensor like any feed-forward: what they add to the laws of dense models, and what they do not. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createJob, type Job } from '../../job/index.ts';
import { recomputesNone } from '../../layout/overrides.fixture.ts';
import { countParameters, type ModelSpec, type MoeFfn } from '../../model/index.ts';
import { bytesSent, type ListBytes } from '../../program/index.ts';
import { chunksHeld, positionOf } from '../../schedules/index.ts';
import { compileProgram, isMirrored } from '../index.ts';
import { type Case, cases } from './cases.fixture.ts';
import { bytesIn, isStatistic, keptBy, livedLists } from './lived.fixture.ts';

const routed = cases('even').filter(({ job }) => job.model.kind === 'mixtral');

/** The job with another feed-forward in every layer. */
function withFfn(job: Job, change: (ffn: MoeFfn) => ModelSpec['layers'][number]['ffn']): Job {
  const layers = job.model.layers.map((layer) =>
    layer.ffn.kind === 'moe' ? { ...layer, ffn: change(layer.ffn) } : layer,
  );
  return createJob({ ...job, model: { ...job.model, layers } });
}

/** The dense model of the same width: one expert that every token visits, without a router. */
const dense = (job: Job): Job =>
  withFfn(job, ({ width, gated, activation }) => ({ kind: 'dense', width, gated, activation, bias: false }));

const sentBy = ({ job, layout }: Case): readonly ListBytes[] => bytesSent(compileProgram(job, layout)).lists;

describe('experts cut over tensor', () => {
  it('add no exchange: tensor and pipeline send what they send for a dense model, but for the routers once a step', () => {
    fc.assert(
      fc.property(routed, ({ job, layout }) => {
        const { hidden, layers } = job.model;
        const [layer] = layers;
        const experts = layer?.ffn.kind === 'moe' ? layer.ffn.experts : 0;
        const plain = sentBy({ job: dense(job), layout });
        for (const [stage, list] of sentBy({ job, layout }).entries()) {
          const count = Array.from({ length: chunksHeld(layout) }, (_, chunk) => positionOf(layout, stage, chunk))
            .map((position) => layout.layersPerStage[position] ?? 0)
            .reduce((sum, each) => sum + each, 0);
          const shard =
            layout.sharding >= 2 && layout.gradientReduction === 'per-micro-batch' ? layout.data / layout.replicate : 1;
          const g = layout.gradientType === 'fp32' ? 4 : 2;
          const routers = (2 * (layout.tensor - 1) * count * experts * hidden * g) / layout.tensor / shard;
          const tensor = (each: ListBytes | undefined) => each?.byAxis['tensor']?.bytes ?? 0;
          expect(tensor(list) - tensor(plain[stage])).toBe(routers);
          // Two copies of the model sum their experts over pipeline as well.
          if (!isMirrored(layout)) expect(list.byAxis['pipeline']).toEqual(plain[stage]?.byAxis['pipeline']);
        }
      }),
      { numRuns: 40 },
    );
  }, 30_000);

  it('add their parameters: every expert is there, and on the data axis', () => {
    fc.assert(
      fc.property(routed, ({ job, layout }) => {
        const one = withFfn(job, (ffn) => ({ ...ffn, experts: 1, topK: 1 }));
        const more = countParameters(job.model).total - countParameters(one.model).total;
        const [layer] = job.model.layers;
        const { experts, width } = layer?.ffn as MoeFfn;
        const { hidden } = job.model;
        expect(more).toBe(job.model.layers.length * (experts - 1) * (3 * hidden * width + hidden));
        const elements = (of: Job) =>
          compileProgram(of, layout)
            .lists.flatMap(({ buckets }) => buckets)
            .reduce((sum, bucket) => sum + bucket.elements, 0);
        const perRank = (3 * hidden * width) / layout.tensor + hidden;
        // Two copies of the model hold them twice.
        const copies = isMirrored(layout) ? 2 : 1;
        expect(elements(job) - elements(one)).toBe(copies * job.model.layers.length * (experts - 1) * perRank);
      }),
      { numRuns: 40 },
    );
  }, 30_000);

  it('keep for each expert that a token visits its input and output, 2 h, and 3 f / t, whatever their number', () => {
    fc.assert(
      fc.property(
        routed.filter(({ layout }) => recomputesNone(layout)),
        ({ job, layout }) => {
          const kept = (topK: number, experts: number) => {
            const of = withFfn(job, (ffn) => ({ ...ffn, topK, experts }));
            const [lived] = livedLists(compileProgram(of, layout));
            const ranges = lived ? keptBy(lived, 0, 0) : [];
            return [ranges.filter((range) => !isStatistic(range)), ranges.filter(isStatistic)].map(bytesIn);
          };
          const [layer] = job.model.layers;
          const { width } = layer?.ffn as MoeFfn;
          const tokens = job.batch.length * layout.microBatch;
          const w = job.precision === 'fp32' ? 4 : 2;
          const each = [tokens * (2 * job.model.hidden + (3 * width) / layout.tensor) * w, tokens * 8];
          const [one, three] = [kept(1, 4), kept(3, 4)];
          expect(three.map((bytes, index) => bytes - (one[index] ?? 0))).toEqual(each.map((bytes) => 2 * bytes));
          expect(kept(3, 8)).toEqual(three);
        },
      ),
      { numRuns: 30 },
    );
  }, 30_000);
});
