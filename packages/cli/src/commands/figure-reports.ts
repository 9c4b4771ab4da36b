/** @file Figures as tables: the same facts for those who read rather than look. */
import type { Sweep } from '@meshwright/core/plan';
import type { SimulatedStep } from '@meshwright/core/sim';
import { bytes, formatBytes, formatSeconds, formatShare, seconds } from '@meshwright/core/units';
import type { AxisFacts, ExchangeFacts, GpuFacts, StageTimeline, StepFacts, StepScript } from '@meshwright/figures';
import { byteColumn, fixed, percent, whole } from '../output/numbers.ts';
import type { Report } from '../output/report.ts';
import { numbers, type Table, tableOf, words } from '../output/table.ts';
import { curveTables, sweepReasons } from './plan-tables.ts';

/** What GPUs hold and what a step moves. */
export function exchangesReport(facts: StepFacts): Report {
  const { program, cluster, world, axes, gpus, sent } = facts;
  const crossing = axes.filter((axis) => axis.crossing > 0).map(({ name }) => name);
  const slow =
    cluster.nodes === 1
      ? 'one node'
      : crossing.length === 0
        ? 'nothing crosses nodes'
        : `${crossing.join(', ')} cross nodes`;
  return {
    answer: `${program.name}: ${whole(world)} GPUs send ${formatBytes(bytes(sent.totalBytes))} a step; ${slow}`,
    tables: [exchangeTable(axes), gpuTable(facts)],
    reasons: gpus.length < world ? [`${gpus.length} of ${whole(world)} GPUs are shown.`] : [],
    json: () => ({
      schema: 'meshwright.figure/1',
      figure: 'exchanges',
      gpus: gpus.map(({ rank, node, coordinate, shelves, otherBytes, peakBytes }) => ({
        rank,
        node,
        coordinate,
        holdsBytes: Object.fromEntries(shelves.map((shelf) => [shelf.role, shelf.bytes])),
        otherBytes,
        peakBytes,
      })),
      axes,
      totalBytes: sent.totalBytes,
    }),
  };
}

interface Row {
  readonly axis: AxisFacts;
  readonly exchange: ExchangeFacts;
}

function exchangeTable(axes: readonly AxisFacts[]): Table {
  const rows = axes.flatMap((axis) => axis.exchanges.map((exchange): Row => ({ axis, exchange })));
  const most = ({ exchange }: Row): number => Math.max(...exchange.bytes);
  const sent = byteColumn(rows.map(most));
  return tableOf(rows, [
    words('axis', ({ axis }) => axis.name),
    words('exchange', ({ exchange }) => exchange.kind),
    numbers('a step', ({ exchange }) => whole(Math.max(...exchange.exchanges))),
    numbers(`${sent.unit} per rank`, (row) => sent.cell(most(row))),
    words('link', ({ axis }) => axis.link.name),
    words('leaves node', ({ axis }) => (axis.crossing > 0 ? 'yes' : 'no')),
    words('because', ({ exchange }) => exchange.reason),
  ]);
}

const roles = ['weights', 'gradients', 'optimizer', 'activations'] as const;

function gpuTable({ gpus, program }: StepFacts): Table {
  const held = byteColumn(gpus.map(({ peakBytes }) => peakBytes));
  const axes = program.mesh.axes.filter(({ degree }) => degree > 1);
  return tableOf(gpus, [
    numbers('GPU', ({ rank }) => whole(rank)),
    numbers('node', ({ node }) => whole(node)),
    ...axes.map(({ name }) => numbers<GpuFacts>(name, ({ coordinate }) => whole(coordinate[name]))),
    ...roles.map((role) =>
      numbers<GpuFacts>(`${role} ${held.unit}`, ({ shelves }) =>
        held.cell(shelves.find((shelf) => shelf.role === role)?.bytes ?? 0),
      ),
    ),
    numbers(`other ${held.unit}`, ({ otherBytes }) => held.cell(otherBytes)),
    numbers(`peak ${held.unit}`, ({ peakBytes }) => held.cell(peakBytes)),
  ]);
}

/** One step of every stage in time. */
export function timelineReport(step: SimulatedStep, stages: readonly StageTimeline[]): Report {
  const mean = stages.reduce((sum, { computing }) => sum + computing, 0) / stages.length / step.seconds;
  const length = (intervals: readonly (readonly [number, number])[]): string =>
    fixed(intervals.reduce((sum, [from, to]) => sum + to - from, 0) * 1e3, 2);
  return {
    answer: `${step.program.name}: ${formatSeconds(seconds(step.seconds))} a step~, compute is idle ${formatShare(1 - mean)} of it`,
    tables: [
      tableOf(stages, [
        numbers('stage', ({ stage }) => whole(stage)),
        numbers('invocations', ({ invocations }) => whole(invocations.length)),
        numbers('computing ms~', ({ computing }) => fixed(computing * 1e3, 2)),
        numbers('idle %~', ({ computing }) => percent(1 - computing / step.seconds)),
        numbers('tensor ms~', ({ exchanges }) => length(exchanges.tensor)),
        numbers('data ms~', ({ exchanges }) => length(exchanges.data)),
        numbers('between stages ms~', ({ exchanges }) => length([...exchanges.stages, ...exchanges.ends])),
      ]),
    ],
    reasons: ['--svg draws it, --json gives every invocation.'],
    json: () => ({
      schema: 'meshwright.figure/1',
      figure: 'timeline',
      seconds: step.seconds,
      stages: stages.map(({ stage, computing, invocations }) => ({
        stage,
        computingSeconds: computing,
        invocations: invocations.map(({ role, microBatch, blocks, span, computing: busy }) => ({
          role,
          microBatch,
          firstBlock: blocks[0],
          lastBlock: blocks.at(-1),
          startSeconds: span[0],
          endSeconds: span[1],
          computingSeconds: busy,
        })),
      })),
    }),
  };
}

interface ToldStep {
  readonly frame: number;
  readonly step: StepScript['steps'][number];
}

/** One period step by step. */
export function stepsReport(script: StepScript): Report {
  const { name, layout, steps, totals } = script;
  const rows = steps.map((step, index): ToldStep => ({ frame: index + 1, step }));
  const sentOf = ({ step }: ToldStep): number => Math.max(0, ...step.lists.map(({ sent }) => sent));
  const sent = byteColumn(rows.map(sentOf));
  const differ = totals.flat().filter(({ counted, law }) => law !== undefined && law !== counted);
  return {
    answer: `${name}: ${layout}, ${whole(steps.length)} steps`,
    tables: [
      tableOf(rows, [
        numbers('#', ({ frame }) => whole(frame)),
        words('where', ({ step }) => step.caption.head),
        words('what', ({ step }) => step.caption.sentence),
        numbers(`sent by then ${sent.unit}`, (row) => sent.cell(sentOf(row))),
      ]),
    ],
    reasons: [
      totals.flat().every(({ law }) => law === undefined)
        ? 'There are no closed forms of this layout; bytes are those that the program counts.'
        : differ.length === 0
          ? 'Bytes counted in the program equal the closed forms on every axis.'
          : `${differ.length} axes differ from their closed form.`,
    ],
    json: () => ({ schema: 'meshwright.figure/1', figure: 'steps', ...script }),
  };
}

/** Scaling over sizes of a cluster. */
export function scalingReport(sweep: Sweep, name: string): Report {
  const [first, ...others] = sweepReasons(sweep);
  return {
    answer: `${name}: ${first}`,
    tables: curveTables(sweep),
    reasons: others,
    json: () => ({ schema: 'meshwright.figure/1', figure: 'scaling', ...sweep }),
  };
}
