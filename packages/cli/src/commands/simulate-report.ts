/** @file What `meshwright simulate` says about a step in time. */
import type { ExchangeWays } from '@meshwright/core/cost';
import type { SettledStep, SettleOptions, Shown } from '@meshwright/core/plan';
import {
  criticalPathSummary,
  exchangesOf,
  type LaneUse,
  type LinkUse,
  laneUseOf,
  type PathKind,
  type PathSummary,
  type PeakRate,
  partsOfStep,
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
  readonly settled: SettledStep;
  readonly peak: PeakRate;
  readonly disturbances: SettleOptions;
  /** Algorithm and protocol of collectives where they are chosen. */
  readonly ways?: ExchangeWays;
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
  const { settled, files, shortenedFrom } = simulated;
  const { step } = settled;
  const shown = measured(simulated);
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
      ...((step.links?.length ?? 0) > 0 ? [linkTable(step.links ?? [])] : []),
      laneTable(lanes[step.last] ?? []),
    ],
    reasons: reasonsOf(simulated, path),
    json: () => ({
      ...shown,
      schema: 'meshwright.simulate/1',
      ...(shortenedFrom !== undefined && { shortenedFrom }),
      timeline: {
        seconds: step.seconds,
        aloneSeconds: settled.aloneSeconds,
        sharedSeconds: settled.sharedSeconds ?? null,
        slowedSeconds: settled.slowedSeconds ?? null,
        links: step.links ?? [],
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

/** The layout as `show` gives it, with the times of the simulated step in place of those of its evaluation. */
function measured({ settled, shown, peak }: Simulated): Shown {
  const { step } = settled;
  const rows = exchangesOf(step, step.last);
  return {
    ...shown,
    step: { ...shown.step, partsSeconds: partsOfStep(step, peak) },
    traffic: shown.traffic.map((row) => {
      const same = rows.filter(({ axis, kind }) => axis === row.axis && kind === row.collective);
      const sum = (key: 'seconds' | 'exposedSeconds'): number => same.reduce((total, each) => total + each[key], 0);
      return { ...row, seconds: sum('seconds'), exposedSeconds: sum('exposedSeconds') };
    }),
  };
}

/** Links that are named. */
const MOST_LINKS = 8;

/** The links that carry most, the bottleneck first. */
const linkTable = (links: readonly LinkUse[]): Table =>
  tableOf(links.slice(0, MOST_LINKS), [
    words('link', ({ name }) => name),
    words('kind', ({ family }) => family),
    numbers('alike', ({ links: count }) => whole(count)),
    numbers('GB/s~', ({ capacity }) => fixed(capacity / 1e9, 1)),
    numbers('GB a step', ({ bytes }) => fixed(bytes / 1e9, 2)),
    numbers('busy ms~', ({ busySeconds }) => fixed(busySeconds * 1e3, 1)),
    numbers('full %~', ({ load }) => percent(load)),
  ]);

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

function reasonsOf(simulated: Simulated, path: PathSummary): readonly string[] {
  const { settled, shown, files, shortenedFrom, ways } = simulated;
  const { step } = settled;
  const last = step.lists[step.last]?.expanded.list.name ?? '';
  const stages = new Set(path.segments.map(({ list }) => list)).size;
  return [
    `${whole(step.start.length)} operations on ${whole(step.lists.length)} ${step.lists.length === 1 ? 'list' : 'lists'} of ranks that run alike; ${last} ends last; ` +
      `the critical path passes ${whole(path.operations)} of them on ${whole(stages)} ${stages === 1 ? 'list' : 'lists'}.`,
    ...(shortenedFrom === undefined
      ? []
      : [
          `Assumed: a step of ${whole(shown.pipeline.microBatches)} micro-batch${shown.pipeline.microBatches === 1 ? '' : 'es'} stands for that of ${whole(shortenedFrom)} (--micro-batches).`,
        ]),
    ...(ways
      ? [
          `Collectives by ${ways.algorithm ?? 'library'}${ways.protocol ? `, protocol ${ways.protocol}` : ''}, at the stated rates and latencies of links.`,
        ]
      : []),
    ...tierLines(simulated),
    ...files
      .slice(0, MOST_FILES)
      .map(({ path: file, bytes: size }) => `Wrote ${file} (${formatBytes(bytesOf(size))}).`),
    ...(files.length > MOST_FILES ? [`Wrote ${whole(files.length - MOST_FILES)} more files.`] : []),
    '~ rests on assumed numbers (meshwright show --assumptions).',
  ];
}

/** What each effect adds, from the bound to the step. */
function tierLines({ settled, disturbances, ways }: Simulated): readonly string[] {
  const { step, aloneSeconds, sharedSeconds, slowedSeconds, slowDown } = settled;
  if (sharedSeconds === undefined || slowedSeconds === undefined || slowDown === undefined) {
    return ['Every operation takes what it takes alone (--alone).'];
  }
  const more = (after: number, before: number): string => `${percent(after / before - 1, 2)} %`;
  const [busiest] = step.links ?? [];
  const jitter = disturbances.jitter;
  const disturbed = [
    ...(disturbances.slowDevices ?? []).map(
      ({ device, seconds: slower }) => `device ${device} ${percent(slower - 1, 0)} % slower`,
    ),
    ...(disturbances.links ?? []).map(({ family, index, speed }) =>
      speed === 0 ? `${family} ${index} gone` : `${family} ${index} at ${percent(speed, 0)} %`,
    ),
    ...(jitter ? [`kernels that vary by ${percent(jitter.spread)} % (seed ${jitter.seed})`] : []),
  ];
  return [
    `Alone its operations take ${formatSeconds(seconds(aloneSeconds))}, ${ways ? 'under these ways' : 'as the plan evaluates it'}: a lower bound. Shared links add ${more(sharedSeconds, aloneSeconds)}, ` +
      `mutual slow-down (kernels x ${slowDown.compute}, exchanges x ${slowDown.exchange}) ${more(slowedSeconds, sharedSeconds)}.`,
    ...(disturbed.length > 0 ? [`Disturbed: ${disturbed.join(', ')}: ${more(step.seconds, slowedSeconds)} more.`] : []),
    ...(busiest
      ? [`Busiest link: ${busiest.name} (${busiest.family}), full ${percent(busiest.load)} % of the step.`]
      : []),
  ];
}

/** Files that are named one by one. */
const MOST_FILES = 4;
