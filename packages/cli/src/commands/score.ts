/** @file `meshwright score`: predictions against measured runs, by source and over all. */
import type { Command } from '@commander-js/extra-typings';
import { InputError } from '@meshwright/core/errors';
import {
  type NamedText,
  readExclusions,
  readRuns,
  type Score,
  type SourceScore,
  scoreRuns,
  skipReasons,
} from '@meshwright/core/score';
import { exitCodes, type Host, type Session } from '../host.ts';
import { readNamed } from '../input/files.ts';
import { fixed, percent, whole } from '../output/numbers.ts';
import { createProgress } from '../output/progress.ts';
import { formatOf, formatOption, jsonOption, printReport, type Report } from '../output/report.ts';
import { numbers, type Table, tableOf, words } from '../output/table.ts';

/** Adds `score RUNS [MEMORY]`. */
export function registerScore(command: Command, session: Session): void {
  command
    .command('score')
    .description('Predictions against measured training runs: errors by source, ranges, ranking, and a null model.')
    .argument('<RUNS>', 'a CSV file of runs, one a row; blank cells are unknown')
    .argument('[MEMORY]', 'a CSV file with peak memory of the same or of other runs')
    .option('--exclude <FILE>', 'a CSV file of rows to leave out: id, reason')
    .addOption(formatOption())
    .addOption(jsonOption())
    .action((runs, memory, options) => {
      const { host } = session;
      const named = (path: string): NamedText => ({ name: path, text: readNamed(path, host) });
      const { rows, issues } = readRuns(named(runs), memory === undefined ? undefined : named(memory));
      const exclusions = options.exclude === undefined ? undefined : readExclusions(named(options.exclude));
      const wrong = [...issues, ...(exclusions?.issues ?? [])];
      if (wrong.some((each) => each.severity === 'error')) throw new InputError(wrong);
      const score = scoreWithProgress(rows, exclusions?.reasons, host);
      if (score.overall.rows === 0) session.end(exitCodes.failed);
      printReport(scoreReport(score), formatOf(options), host);
    });
}

function scoreWithProgress(
  rows: Parameters<typeof scoreRuns>[0],
  exclusions: ReadonlyMap<string, string> | undefined,
  host: Host,
): Score {
  const progress = createProgress(host);
  try {
    return scoreRuns(rows, {
      ...(exclusions !== undefined && { exclusions }),
      onProgress: (done, total) => progress.update(`priced ${whole(done)} of ${whole(total)} rows`),
    });
  } finally {
    progress.done();
  }
}

function scoreReport(score: Score): Report {
  const { overall, nullModel } = score;
  const scored = [...score.bySource, overall].filter((each) => each.rows > 0);
  return {
    answer: answerOf(score),
    tables: [
      ...(scored.length > 1 ? [sourceTable(scored, score)] : []),
      ...(overall.memory === null ? [] : [memoryTable([...score.bySource, overall])]),
      ...(Object.keys(score.skipped).length > 0 ? [skippedTable(score)] : []),
    ],
    reasons: [
      ...(nullModel.overall === undefined
        ? []
        : [
            `On ${whole(nullModel.overall.rows)} rows with another source on the same device a constant rate times the bubble is off by ${cell(nullModel.overall.mape)} %, this model by ${cell(nullModel.ours?.mape ?? null)} %.`,
          ]),
      'Errors are those of seconds per step; bias below 0 means predicted too fast.',
    ],
    json: () => score,
  };
}

function answerOf({ overall }: Score): string {
  if (overall.rows === 0) return 'no row could be priced';
  return `${whole(overall.rows)} rows priced: mean error ${cell(overall.mape)} %, median ${cell(overall.median)} %, bias ${cell(overall.bias)} %`;
}

const cell = (share: number | null): string => (share === null ? '-' : percent(share));

function sourceTable(scored: readonly SourceScore[], { nullModel }: Score): Table {
  const nulls = new Map(nullModel.bySource.map((each) => [each.source, each.mape]));
  return tableOf(scored, [
    words('source', ({ source }) => source),
    numbers('rows', ({ rows }) => whole(rows)),
    numbers('skipped', ({ skipped }) => whole(skipped)),
    numbers('mean %', ({ mape }) => cell(mape)),
    numbers('bias %', ({ bias }) => cell(bias)),
    numbers('median %', ({ median }) => cell(median)),
    numbers('p90 %', ({ p90 }) => cell(p90)),
    numbers('worst %', ({ worst }) => cell(worst)),
    numbers('in range %', ({ coverage }) => cell(coverage)),
    numbers('null %', ({ source }) => cell((source === 'all' ? nullModel.overall?.mape : nulls.get(source)) ?? null)),
    numbers('rank', ({ spearman }) => (spearman === null ? '-' : fixed(spearman, 2))),
    numbers('regret %', ({ regret }) => cell(regret)),
  ]);
}

function memoryTable(sources: readonly SourceScore[]): Table {
  const rows = sources.flatMap(({ source, memory }) => (memory === null ? [] : [{ source, ...memory }]));
  return tableOf(
    rows,
    [
      words('source', ({ source }) => source),
      numbers('rows', ({ rows: count }) => whole(count)),
      numbers('mean %', ({ mape }) => cell(mape)),
      numbers('bias %', ({ bias }) => cell(bias)),
      numbers('worst %', ({ worst }) => cell(worst)),
    ],
    'Peak memory',
  );
}

function skippedTable({ skipped }: Score): Table {
  const rows = Object.entries(skipped).sort(([, one], [, other]) => other - one);
  return tableOf(
    rows,
    [
      words('not priced', ([reason]) => reason),
      numbers('rows', ([, count]) => whole(count)),
      words('because of', ([reason]) => skipReasons[reason as keyof typeof skipReasons]),
    ],
    'Rows that are not priced',
  );
}
