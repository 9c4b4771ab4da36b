/** @file Figures of plans: where a step goes, plans by time and memory, memory of stages, the map of a cluster. */
import { compileProgram } from '@meshwright/core/compile';
import { assertUnreachable, InputError, issue } from '@meshwright/core/errors';
import { meshOf, microBatchesOf } from '@meshwright/core/layout';
import { groupOf, worldSize } from '@meshwright/core/mesh';
import { planJob, showLayout } from '@meshwright/core/plan';
import { operationCount } from '@meshwright/core/sim';
import { bytes, formatBytes } from '@meshwright/core/units';
import {
  ClusterMap,
  MemoryBars,
  MemoryOver,
  mapLinks,
  memoryOverStep,
  Ranking,
  type StageMemory,
  svgText,
  Waterfall,
} from '@meshwright/figures';
import { chooseLayout, type JobFile } from '../input/job-file.ts';
import { checkStepSize } from '../input/step-size.ts';
import { percent, whole } from '../output/numbers.ts';
import { degreeWords, headline } from '../output/plan-words.ts';
import type { Report } from '../output/report.ts';
import { numbers, tableOf, words } from '../output/table.ts';
import { planTable } from './plan-tables.ts';
import { memoryTable, partTable } from './show-tables.ts';

export const planFigures = ['waterfall', 'ranking', 'memory', 'memory-over-time', 'map'] as const;
export type PlanFigure = (typeof planFigures)[number];

/** The axes whose groups a map can show. */
export const mapAxes = ['tensor', 'context', 'data', 'pipeline'] as const;

/** What the options say of these figures. */
export interface PlanFigureOptions {
  readonly stage?: number | undefined;
  readonly axis?: (typeof mapAxes)[number] | undefined;
  readonly rank?: number | undefined;
}

/** A figure as facts and as a drawing; both are computed when they are asked for. */
export interface Figure {
  report(): Report;
  draw(): string;
}

/** Plans that the figure of the ranking holds. */
const RANKED = 10;

/** One of the figures of plans. Throws an InputError for a layout that is not legal, a stage or a rank that is not there. */
export function planFigure(name: PlanFigure, file: JobFile, options: PlanFigureOptions): Figure {
  switch (name) {
    case 'waterfall': {
      const shown = file.placing(() => showLayout(file.job));
      const report = (): Report => ({
        answer: `${degreeWords(shown.layout)} - ${headline(shown)}`,
        tables: [partTable(shown)],
        reasons: [],
        json: () => ({ schema: 'meshwright.figure/1', figure: name, ...shown.step }),
      });
      return { report, draw: () => svgText(Waterfall({ step: shown.step })) };
    }
    case 'memory': {
      const shown = file.placing(() => showLayout(file.job));
      const report = (): Report => ({
        answer: `${degreeWords(shown.layout)} - ${headline(shown)}`,
        tables: [memoryTable(shown, Number.POSITIVE_INFINITY)],
        reasons: [],
        json: () => ({ schema: 'meshwright.figure/1', figure: name, ...shown.memory }),
      });
      return { report, draw: () => svgText(MemoryBars({ memory: shown.memory })) };
    }
    case 'ranking':
      return rankingOf(file);
    case 'memory-over-time':
      return memoryOverOf(file, options.stage ?? 0);
    case 'map':
      return mapOf(file, options);
    default:
      return assertUnreachable(name);
  }
}

function rankingOf(file: JobFile): Figure {
  const planned = file.placing(() => planJob(file.job, { top: RANKED }));
  const { plans } = planned;
  const [first] = plans;
  if (!first) {
    throw new InputError([
      issue('OUT_OF_MEMORY', 'layout', 'no layout of this job fits, so there is none to draw.', 'Use more devices.'),
    ]);
  }
  const report = (): Report => ({
    answer: `${whole(plans.length)} plans, best ${degreeWords(first.layout)} - ${headline(first)}`,
    tables: [planTable(planned, 'text')],
    reasons: [],
    json: () => ({ schema: 'meshwright.figure/1', figure: 'ranking', plans }),
  });
  return {
    report,
    draw: () => svgText(Ranking({ plans, chosen: plans.slice(0, 2).map(({ layout }) => layout.short) })),
  };
}

function memoryOverOf(file: JobFile, wanted: number): Figure {
  const { layout } = chooseLayout(file);
  const program = compileProgram(file.job, layout);
  checkStepSize(
    operationCount(program),
    microBatchesOf(file.job, layout),
    'simulated',
    'Use a batch of fewer micro-batches',
  );
  const stages = memoryOverStep(program);
  const stage = stages.find((each) => each.stage === wanted);
  if (!stage) {
    const message = `there is no stage ${wanted}.`;
    throw new InputError([issue('VALUE_OUT_OF_RANGE', '--stage', message, `Use 0 to ${stages.length - 1}.`)]);
  }
  return { report: () => memoryOverReport(stage), draw: () => svgText(MemoryOver({ stage })) };
}

const memoryOverReport = (stage: StageMemory): Report => ({
  answer: `stage ${stage.stage}: ${formatBytes(bytes(stage.residentBytes))} throughout, ${formatBytes(bytes(stage.peakBytes))} at the peak`,
  tables: [
    tableOf(stage.alive, [
      words('alive at the peak', ({ name }) => name),
      words('role', ({ role }) => role),
      numbers('bytes', (each) => whole(each.bytes)),
      numbers('% of the peak', (each) => percent(each.bytes / stage.peakBytes)),
    ]),
  ],
  reasons: [`At the peak the GPU ${stage.peakWhy}; ${whole(stage.aliveCount)} buffers are alive.`],
  json: () => ({ schema: 'meshwright.figure/1', figure: 'memory-over-time', ...stage, over: [...stage.over] }),
});

function mapOf(file: JobFile, { axis = 'tensor', rank = 0 }: PlanFigureOptions): Figure {
  const { layout } = chooseLayout(file);
  const mesh = meshOf(layout);
  const { gpusPerNode } = file.job.cluster;
  const world = worldSize(mesh);
  if (rank >= world) {
    throw new InputError([
      issue('VALUE_OUT_OF_RANGE', '--rank', `there is no rank ${rank}.`, `Use 0 to ${world - 1}.`),
    ]);
  }
  const group = groupOf(mesh, rank, [axis]);
  const nodes = [...new Set(group.map((each) => Math.floor(each / gpusPerNode)))];
  return {
    report: () => ({
      answer: `rank ${rank} shares its ${axis} group with ${whole(group.length - 1)} others, on ${whole(nodes.length)} nodes`,
      tables: [
        tableOf(group, [
          numbers('rank', (each) => whole(each)),
          numbers('node', (each) => whole(Math.floor(each / gpusPerNode))),
        ]),
      ],
      reasons: [],
      json: () => ({ schema: 'meshwright.figure/1', figure: 'map', axis, rank, group, nodes }),
    }),
    draw: () => {
      const { traffic } = file.placing(() => showLayout(file.job, layout));
      return svgText(ClusterMap({ mesh, gpusPerNode, axis, rank, links: mapLinks(traffic, axis) }));
    },
  };
}
