/** @file What `meshwright simulate` says about a step in time. */
import type { Shown } from '@meshwright/core/plan';
import {
  criticalPathSummary,
  type LaneUse,
  laneUseOf,
  type PathKind,
  type PathSummary,
  type SimulatedStep,
} from '@meshwright/core/sim';
import { bytes as bytesOf, formatBytes, formatSeconds, seconds } from '@meshwright/core/units';
import { byteColumn, fixed, percent, whole } from '../output/numbers.ts';
import { partWords } from '../output/plan-words.ts';
import type { Report } from '../output/report.ts';
import { numbers, type Table, tableOf, words } from '../output/table.ts';
import { trafficTable } from './show-tables.ts';
import type { WrittenFile } from './simulate-outputs.ts';

/** What was simulated. */
export interface Simulated {
  readonly step: SimulatedStep;
  /** The layout as `show` gives it, of the job or of the shortened one. */
  readonly shown: Shown;
  /** Micro-batches of the step where fewer were simulated. */
  readonly shortenedFrom?: number;
  readonly files: readonly WrittenFile[];
}

const pathWords: Readonly<Record<PathKind, string>> = {
  forward: 'forward kernels',
  backward: 'backward kernels',
  again: 'forward again',
  tail: 'norm and optimizer',
  tensor: 'tensor exchanges',
  context: 'context exchanges',
  expert: 'expert exchanges',
  data: 'data exchanges',
  pipeline: 'exchanges between stages',
  host: 'launches by the host',
};

/** Parts that lead the first line. */
const LEADING = 3;

/** The report of a simulated step: the answer, the critical path, idle time, exchanges, lanes. */
export function simulateReport(simulated: Simulated): Report {
  const { step, shown, files, shortenedFrom } = simulated;
  const path = criticalPathSummary(step);
  const lanes = step.lists.map((_, list) => laneUseOf(step, list));
  const leading = path.parts
    .slice(0, LEADING)
    .filter(({ seconds: part }) => part >= path.seconds / 100)
    .map(({ kind, seconds: part }) => `${percent(part / path.seconds, 0)} % ${pathWords[kind]}`);
  return {
    answer: `${formatSeconds(seconds(step.seconds))} a step~: the critical path is ${leading.join(', ')}`,
    tables: [
      pathTable(path),
      idleTable(shown),
      ...(shown.traffic.length > 0 ? [trafficTable(shown)] : []),
      laneTable(lanes[step.last] ?? []),
    ],
    reasons: reasonsOf(simulated, path),
    json: () => ({
      ...shown,
      schema: 'meshwright.simulate/1',
      ...(shortenedFrom !== undefined && { shortenedFrom }),
      timeline: {
        seconds: step.seconds,
        operations: step.start.length,
        lanes: lanes.flatMap((uses, list) =>
          uses.map((use) => ({ stage: step.lists[list]?.expanded.list.pipeline, ...use })),
        ),
        criticalPath: pathJson(step, path),
      },
      traceFile: files[0]?.path ?? null,
      files,
    }),
  };
}

const pathTable = (path: PathSummary): Table =>
  tableOf(
    [...path.parts, { kind: 'step' as const, seconds: path.seconds, operations: path.operations }],
    [
      words('critical path', ({ kind }) => (kind === 'step' ? 'step' : pathWords[kind])),
      numbers('ms~', ({ seconds: part }) => fixed(part * 1e3, path.seconds < 1 ? 3 : 1)),
      numbers('%~', ({ seconds: part }) => percent(part / path.seconds)),
      numbers('operations', ({ operations }) => whole(operations)),
    ],
  );

/** What the compute lane of the list that ends last does and waits for. */
function idleTable({ step }: Shown): Table {
  const parts = (Object.keys(partWords) as (keyof typeof partWords)[])
    .map((part) => ({ part: partWords[part], time: step.partsSeconds[part] }))
    .filter(({ time }) => time > 0);
  return tableOf(parts, [
    words('compute lane of the last list', ({ part }) => part),
    numbers('ms~', ({ time }) => fixed(time * 1e3, step.seconds < 1 ? 3 : 1)),
    numbers('%~', ({ time }) => percent(time / step.seconds)),
  ]);
}

function laneTable(lanes: readonly LaneUse[]): Table {
  const sent = byteColumn(lanes.map(({ bytes }) => bytes));
  return tableOf(lanes, [
    words('lane', ({ lane }) => lane),
    numbers('operations', ({ operations }) => whole(operations)),
    numbers('busy ms~', ({ busySeconds }) => fixed(busySeconds * 1e3, 1)),
    numbers(`sent ${sent.unit}`, ({ bytes }) => sent.cell(bytes)),
  ]);
}

function pathJson({ lists }: SimulatedStep, path: PathSummary): object {
  return {
    ...path,
    segments: path.segments.map(({ list, start, end, ...rest }) => ({
      stage: lists[list]?.expanded.list.pipeline,
      ...rest,
      startSeconds: start,
      endSeconds: end,
    })),
  };
}

function reasonsOf({ step, shown, files, shortenedFrom }: Simulated, path: PathSummary): readonly string[] {
  const last = step.lists[step.last]?.expanded.list.name ?? '';
  const stages = new Set(path.segments.map(({ list }) => list)).size;
  const drift = Math.abs(step.seconds - shown.step.seconds) / shown.step.seconds;
  return [
    `${whole(step.start.length)} operations on ${whole(step.lists.length)} ${step.lists.length === 1 ? 'list' : 'lists'} of ranks that run alike; ${last} ends last; ` +
      `the critical path passes ${whole(path.operations)} of them on ${whole(stages)} ${stages === 1 ? 'list' : 'lists'}.`,
    ...(shortenedFrom === undefined
      ? []
      : [
          `Assumed: a step of ${whole(shown.pipeline.microBatches)} micro-batch${shown.pipeline.microBatches === 1 ? '' : 'es'} stands for that of ${whole(shortenedFrom)} (--micro-batches).`,
        ]),
    ...(drift > 1e-6 ? [`The evaluation of the plan gives ${formatSeconds(seconds(shown.step.seconds))} a step.`] : []),
    ...files
      .slice(0, MOST_FILES)
      .map(({ path: file, bytes: size }) => `Wrote ${file} (${formatBytes(bytesOf(size))}).`),
    ...(files.length > MOST_FILES ? [`Wrote ${whole(files.length - MOST_FILES)} more files.`] : []),
    '~ rests on assumed numbers (meshwright show --assumptions).',
  ];
}

/** Files that are named one by one. */
const MOST_FILES = 4;
