/** @file Compiles a job under a layout into a step program: a sequence of pure passes. */
import { batchTokens, type Job } from '../job/index.ts';
import { type Layout, meshOf } from '../layout/index.ts';
import type { Group, Program } from '../program/index.ts';
import { scheduleList, shapeOf } from '../schedules/index.ts';
import { blockTemplates, contextGroupsOf } from './block-templates.ts';
import { lowerList } from './lower/list.ts';
import { type Outline, outlineOf } from './outline.ts';
import { copiesOf, isMirrored } from './parameters.ts';
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

/** Stages that hold the same parameters: both ends the tied matrix, or each stage its mirror image. */
function copyGroups(tied: boolean, layout: Layout): readonly Group[] {
  const stages = isMirrored(layout) ? layout.pipeline / 2 : 1;
  return Array.from({ length: stages }, (_, stage) => copiesOf({ tied }, layout, stage)).filter(
    (group) => group !== undefined,
  );
}

const groupsOf = ({ job, layout, context }: Outline): readonly Group[] => [
  ...copyGroups(job.model.tied, layout),
  ...replicaGroups(layout, context.grid !== undefined),
  ...contextGroupsOf(context),
];
