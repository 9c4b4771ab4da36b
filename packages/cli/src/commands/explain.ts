/** @file `meshwright explain`: the decision flow with this job's numbers, the strategies side by side, break-even lines, and
 * rules of thumb held against the search. */
import type { Command } from '@commander-js/extra-typings';
import {
  type BreakEven,
  type Explained,
  explainJob,
  type FlowStep,
  type Outcome,
  type Quantity,
} from '@meshwright/core/explain';
import type { Job } from '@meshwright/core/job';
import { exitCodes, type Host, type Session } from '../host.ts';
import { readJobFile } from '../input/job-file.ts';
import { printIssues } from '../output/issues.ts';
import { fixed, percent } from '../output/numbers.ts';
import { gib, shortLayout } from '../output/plan-words.ts';
import { createProgress } from '../output/progress.ts';
import { amountOf } from '../output/quantity.ts';
import { formatOf, formatOption, jsonOption, printReport, type Report } from '../output/report.ts';
import { wrap } from '../output/wrap.ts';
import { breakEvenTable, ruleTable, strategyTables } from './explain-tables.ts';

/** Width of sentences. */
const WIDTH = 110;

/** Adds `explain JOB`. */
export function registerExplain(command: Command, session: Session): void {
  command
    .command('explain')
    .description('Which way of splitting a job the usual reasoning arrives at, and what the search says to that.')
    .argument('<JOB>', 'a job file (YAML or JSON), - for standard input')
    .option('--layout <KEYS>', 'layout keys over those of the job, as in mbs=2,ac=full')
    .option('--table', 'only the strategies side by side')
    .addOption(formatOption())
    .addOption(jsonOption())
    .action((path, options) => {
      const { host } = session;
      const file = readJobFile(path, options.layout, host);
      const found = file.placing(() => explainWithProgress(file.job, host));
      const explained = { ...found, issues: [...file.issues, ...found.issues].map(file.place) };
      if (!explained.search) session.end(exitCodes.failed);
      const format = formatOf(options);
      if (format !== 'json') printIssues(explained.issues, host);
      printReport(explainReport(explained, options.table === true), format, host);
    });
}

function explainWithProgress(job: Job, host: Host): Explained {
  const progress = createProgress(host);
  try {
    return explainJob(job, { onProgress: progress.update });
  } finally {
    progress.done();
  }
}

function explainReport(explained: Explained, onlyTable: boolean): Report {
  const others = [
    ...(explained.breakEven.length > 0 ? [breakEvenTable(explained.breakEven)] : []),
    ...(explained.rules.length > 0 ? [ruleTable(explained.rules)] : []),
  ];
  return {
    answer: answerOf(explained),
    ...(!onlyTable && { paragraphs: explained.flow.map(paragraph) }),
    tables: [...strategyTables(explained.table), ...(onlyTable ? [] : others)],
    reasons: [...(onlyTable ? [] : explained.breakEven.map(breakEvenWords)), ...legend],
    json: () => explained,
  };
}

const legend = wrap(
  'Psi parameters, N data ranks, t tensor ranks, p stages, m micro-batches of b sequences, L layers of P parameters, s b h dims of an activation, g and w bytes of a gradient and a weight, F FLOP/s and B bytes/s that are reached, T tokens, k GPUs of a node.',
  WIDTH,
);

/** What a line says of this job, in a sentence. */
const breakEvenWords = ({ what, link, says }: BreakEven): string =>
  wrap(`${what}${link ? ` (${link})` : ''}: ${says}`, WIDTH).join('\n  ');

const outcomeWords = ({ name, layout, seconds, deviceBytes }: Outcome): string =>
  `${name} (${shortLayout(layout)}): ${fixed(seconds, seconds < 1 ? 4 : 2)} s/step~, ${gib(deviceBytes)} GiB`;

function answerOf({ recommendation, search, costOverSearch = 0 }: Explained): string {
  if (!search) return 'no layout of this job fits';
  if (!recommendation) return `the usual reasoning finds nothing that fits; the search finds ${outcomeWords(search)}`;
  const beside =
    costOverSearch > 0 ? `${percent(costOverSearch)} % over the best of the search` : 'the search finds none faster';
  return `${outcomeWords(recommendation)}; ${beside}`;
}

/** A question with its answer, and the numbers that it rests on below. */
function paragraph({ question, answer, numbers }: FlowStep, index: number): string {
  const lines = numbers.map((each) => `     ${quantityWords(each)}`);
  return [`${index + 1}. ${question}`, ...wrap(answer, WIDTH, '   '), ...lines].join('\n');
}

/** `state of one rank: 16 Psi = 100.4 GiB`. */
function quantityWords({ what, symbols, value, unit }: Quantity): string {
  const law = symbols === undefined ? '' : `${symbols} = `;
  return `${what}: ${law}${amountOf(value, unit)}`;
}
