/** @file Compiles a job under a layout into a step program: a sequence of pure passes. */
import { batchTokens, type Job } from '../job/index.ts';
import { type Layout, meshOf } from '../layout/index.ts';
import type { Group, Program } from '../program/index.ts';
import { scheduleList, shapeOf } from '../schedules/index.ts';
import { blockTemplates, contextGroupsOf } from './block-templates.ts';
import { lowerList } from './lower/list.ts';
import { type Outline, outlineOf } from './outline.ts';
import { endsApart } from './parameters.ts';
import { replicaGroups } from './replicas.ts';

/** The program of one optimizer step of a legal, complete layout. Illegal layouts are the business of `checkLayout`. */
export function compileProgram(job: Job, layout: Layout): Program {
  const outline = outlineOf(job, layout);
  const { templates, buffers, scalars } = blockTemplates(outline.context);
  const shape = shapeOf(layout, outline.microBatches);
  return {
    schema: 'meshwright.program/1',
    name: job.name,
    mesh: meshOf(outline.layout),
    groups: groupsOf(outline),
    layers: outline.layers,
    microBatches: outline.microBatches,
    lossScale: 1 / batchTokens(job.batch),
    optimizer: job.optimizer,
    buffers: [...buffers, ...scalars],
    templates,
    lists: outline.stages.map((stage) => lowerList(outline, stage, scheduleList(shape, stage.stage))),
  };
}

/** First and last stage share the tied matrix. */
const groupsOf = ({ job, layout, context }: Outline): readonly Group[] => [
  ...(job.model.tied && endsApart(layout)
    ? [{ name: 'ends', along: 'pipeline' as const, coordinates: [0, layout.pipeline - 1] }]
    : []),
  ...replicaGroups(layout, context.grid !== undefined),
  ...contextGroupsOf(context),
];
