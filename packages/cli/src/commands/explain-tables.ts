/** @file The tables of `meshwright explain`. */
import type { BreakEven, RuleCheck, StrategyRow } from '@meshwright/core/explain';
import { fixed, percent, significant } from '../output/numbers.ts';
import { gib, shortLayout } from '../output/plan-words.ts';
import { amountOf } from '../output/quantity.ts';
import { numbers, type Table, tableOf, words } from '../output/table.ts';

const GIB = 2 ** 30;
const inGiB = (value: number | undefined): string => (value === undefined ? '-' : significant(value / GIB));
const verdicts = { fits: 'yes', 'at-risk': 'at risk', 'does-not-fit': 'no' } as const;

/** The strategies side by side: their laws, and this job's numbers. */
export const strategyTables = (rows: readonly StrategyRow[]): readonly Table[] => [
  tableOf(rows, [
    words('strategy', ({ strategy }) => strategy),
    words('splits', ({ splits }) => splits),
    words('state of a GPU', ({ statePerGpu }) => statePerGpu.symbols),
    words('sent by a GPU a step', ({ bytesPerGpuPerStep }) => bytesPerGpuPerStep.symbols),
    words('by', ({ collective }) => collective),
  ]),
  tableOf(rows, [
    words('strategy', ({ strategy }) => strategy),
    numbers('state GiB', ({ statePerGpu }) => inGiB(statePerGpu.bytes)),
    numbers('sent GiB', ({ bytesPerGpuPerStep }) => inGiB(bytesPerGpuPerStep.bytes)),
    words('over', ({ link }) => link.name ?? '-'),
    numbers('waited for ms~', ({ blocking }) =>
      blocking.exposedSeconds === undefined ? '-' : fixed(blocking.exposedSeconds * 1e3, 1),
    ),
    numbers('bubble %~', ({ blocking }) => (blocking.bubbleShare === undefined ? '-' : percent(blocking.bubbleShare))),
    numbers('step s~', (row) => (row.numbers ? fixed(row.numbers.seconds, 2) : '-')),
    numbers('device GiB~', (row) => (row.numbers ? gib(row.numbers.deviceBytes) : '-')),
    words('fits', (row) => (row.numbers ? verdicts[row.numbers.verdict] : (row.issues[0]?.code ?? '-'))),
    words('layout', (row) => shortLayout(row.numbers?.layout ?? '-')),
  ]),
];

/** Where two costs are equal, and where this job stands. */
export const breakEvenTable = (lines: readonly BreakEven[]): Table =>
  tableOf(lines, [
    words('where costs are equal', ({ what }) => what),
    words('law', ({ symbols }) => symbols),
    numbers('at~', ({ value, unit }) => amountOf(value, unit)),
    numbers('here~', ({ here, unit }) => (here === undefined ? '-' : amountOf(here, unit))),
    words('which says', ({ says }) => says),
  ]);

/** Rules of thumb against the search. */
export const ruleTable = (rules: readonly RuleCheck[]): Table =>
  tableOf(rules, [
    words('rule of thumb', ({ rule }) => rule),
    words('agrees', ({ agrees }) => (agrees ? 'yes' : 'no')),
    numbers('costs %~', ({ costOverOptimum }) => (costOverOptimum === undefined ? '-' : percent(costOverOptimum))),
    words('fastest that obeys', ({ says }) => shortLayout(says)),
  ]);
