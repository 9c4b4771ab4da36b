/** @file The tables of `meshwright explain`. */
import type { BreakEven, RuleCheck, StrategyRow } from '@meshwright/core/explain';
import { fixed, percent, significant, whole } from '../output/numbers.ts';
import { gib, shortLayout } from '../output/plan-words.ts';
import { numbers, type Table, tableOf, words } from '../output/table.ts';

const GIB = 2 ** 30;
const inGiB = (value: number | undefined): string => (value === undefined ? '-' : significant(value / GIB));
const verdicts = { fits: 'yes', 'at-risk': 'at risk', 'does-not-fit': 'no' } as const;

/** The strategies side by side: what they hold and send by their laws, when that happens, and this job's numbers. */
export const strategyTables = (rows: readonly StrategyRow[]): readonly Table[] => [
  numberTable(rows),
  tableOf(rows, [
    words('strategy', ({ strategy }) => strategy),
    words('splits', ({ splits }) => splits),
    words('state of a GPU', ({ statePerGpu }) => statePerGpu.symbols),
    words('sent by a GPU a step', ({ bytesPerGpuPerStep }) => bytesPerGpuPerStep.symbols),
    words('batch', ({ batch }) => batch.symbols),
  ]),
  tableOf(rows, [
    words('strategy', ({ strategy }) => strategy),
    words('by', ({ collective }) => collective),
    words('when', ({ when }) => when),
    words('blocks', ({ blocking }) => blocking.words),
    words('link', ({ link }) => link.words),
  ]),
];

/** This job's numbers; a strategy that is not legal has the code of the first reason. */
const numberTable = (rows: readonly StrategyRow[]): Table =>
  tableOf(rows, [
    words('strategy', ({ strategy }) => strategy),
    numbers('state GiB', ({ statePerGpu }) => inGiB(statePerGpu.bytes)),
    numbers('device GiB~', ({ numbers: own }) => (own ? gib(own.deviceBytes) : '-')),
    words('fits', ({ numbers: own, issues }) => (own ? verdicts[own.verdict] : (issues[0]?.code ?? '-'))),
    numbers('sent GiB', ({ bytesPerGpuPerStep }) => inGiB(bytesPerGpuPerStep.bytes)),
    words('over', ({ link }) => link.name ?? '-'),
    numbers('GB/s~', ({ link }) => (link.bytesPerSecond ? fixed(link.bytesPerSecond / 1e9, 0) : '-')),
    numbers('waits ms~', ({ blocking }) => milliseconds(blocking.exposedSeconds)),
    numbers('waits %~', ({ blocking }) => share(blocking.exposedShare)),
    numbers('bubble %~', ({ blocking }) => share(blocking.bubbleShare)),
    numbers('step ms~', ({ numbers: own }) => milliseconds(own?.seconds)),
    words('batch = N m b', ({ batch }) => batch.words),
    words('layout', ({ numbers: own }) => shortLayout(own?.layout ?? '-')),
  ]);

const milliseconds = (seconds: number | undefined): string => (seconds === undefined ? '-' : fixed(seconds * 1e3, 1));
const share = (value: number | undefined): string => (value === undefined ? '-' : percent(value));

/** Where two costs are equal, and where this job stands. Lines differ in their unit, so it has a column. */
export const breakEvenTable = (lines: readonly BreakEven[]): Table =>
  tableOf(lines, [
    words('where costs are equal', ({ what }) => what),
    words('law', ({ symbols }) => symbols),
    words('over', ({ link }) => link ?? '-'),
    numbers('at~', ({ value, unit }) => scaled(value, unit)),
    numbers('here~', ({ here, unit }) => (here === undefined ? '-' : scaled(here, unit))),
    words('unit', ({ unit }) => unitNames[unit]),
  ]);

const unitNames: Readonly<Record<BreakEven['unit'], string>> = {
  bytes: 'GiB',
  seconds: 's',
  share: '%',
  count: '',
  tokens: 'tokens',
  bytesPerSecond: 'GB/s',
  flopsPerSecond: 'TFLOP/s',
};

/** A value in the unit of {@link unitNames}, without it. */
function scaled(value: number, unit: BreakEven['unit']): string {
  switch (unit) {
    case 'bytes':
      return significant(value / GIB);
    case 'share':
      return percent(value);
    case 'count':
      return Number.isInteger(value) ? whole(value) : significant(value);
    case 'tokens':
      return whole(Math.ceil(value));
    case 'bytesPerSecond':
      return significant(value / 1e9);
    case 'flopsPerSecond':
      return significant(value / 1e12);
    case 'seconds':
      return significant(value);
  }
}

/** Rules of thumb against the search. */
export const ruleTable = (rules: readonly RuleCheck[]): Table =>
  tableOf(rules, [
    words('rule of thumb', ({ rule }) => rule),
    words('agrees', ({ agrees }) => (agrees ? 'yes' : 'no')),
    numbers('costs %~', ({ costOverOptimum }) => (costOverOptimum === undefined ? '-' : percent(costOverOptimum))),
    words('fastest that obeys', ({ says }) => shortLayout(says)),
    words('loses by', ({ because }) => because ?? '-'),
    words('note', ({ note }) => note ?? ''),
  ]);
