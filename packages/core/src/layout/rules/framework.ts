/** @file A layout in the words of its job's framework: what that framework would refuse at launch. */
import type { Issue } from '../../errors/index.ts';
import { checkSetup, type FrameworkSetup } from '../../frameworks/index.ts';
import type { AttentionSpec } from '../../model/index.ts';
import { expertCounts } from '../experts.ts';
import { gpusOf, type LayoutJob } from '../job.ts';
import { recomputeOfLayers } from '../overrides.ts';
import type { Layout, Recompute } from '../types.ts';

/** What the job says; one for each kind of attention in the model. */
function jobSetups(job: LayoutJob): readonly FrameworkSetup[] {
  const { model, batch, precision } = job;
  const experts = expertCounts(job);
  const base: FrameworkSetup = {
    gpus: gpusOf(job),
    layers: model.layers.length,
    hidden: model.hidden,
    experts: experts[0] ?? 0,
    tied: model.tied,
    sequences: batch.sequences,
    length: batch.length,
    precision,
  };
  const kinds = new Map(model.layers.map(({ attention }) => [`${attention.heads} ${attention.kvHeads}`, attention]));
  return [...kinds.values()].map((attention) => ({ ...base, ...headsOf(attention) }));
}

const headsOf = ({ heads, kvHeads, headSize }: AttentionSpec) => ({ heads, kvHeads, headSize });

/** What the layout says. Layers of stages that are even are not written out: every framework splits them so itself. */
function layoutSetup(layout: Layout): FrameworkSetup {
  const { layersPerStage, order } = layout;
  const even = layersPerStage.every((each) => each === layersPerStage[0]);
  return {
    tensor: layout.tensor,
    pipeline: layout.pipeline,
    context: layout.context,
    contextKind: layout.contextKind,
    expert: layout.expert,
    expertTensor: layout.expertTensor,
    data: layout.data,
    dataShard: layout.data / layout.replicate,
    sharding: layout.sharding,
    chunks: layout.chunks,
    schedule: layout.schedule,
    ...(!even && { layersPerStage }),
    ...(layout.layers.length > 0 && { recomputeOfChunks: recomputeOfChunks(layout) }),
    sequenceParallel: layout.sequenceParallel,
    gradientType: layout.gradientType,
    offload: layout.offload,
    microBatch: layout.microBatch,
    pipelineBeforeData: order.includes('data') && order.indexOf('pipeline') < order.indexOf('data'),
  };
}

/** What each layer recomputes, chunk by chunk. */
function recomputeOfChunks(layout: Layout): readonly (readonly Recompute[])[] {
  const count = layout.layersPerStage.reduce((sum, each) => sum + each, 0);
  const all = recomputeOfLayers(layout, count);
  let from = 0;
  return layout.layersPerStage.map((each) => {
    from += each;
    return all.slice(from - each, from);
  });
}

/** What the job's framework refuses of a layout, as a function that is made once for many layouts. */
export function frameworkChecker(job: LayoutJob): (layout: Layout) => readonly Issue[] {
  if (job.framework === 'meshwright') return () => [];
  const setups = jobSetups(job);
  return (layout) => {
    const own = layoutSetup(layout);
    const issues: Issue[] = [];
    for (const setup of setups) {
      for (const found of checkSetup(job.framework, { ...setup, ...own })) {
        if (issues.every(({ code }) => code !== found.code)) issues.push(found);
      }
    }
    return issues;
  };
}
