/** @file `meshwright plan`: the best layouts of a job, and why the first one is first. */
import { type Command, Option } from '@commander-js/extra-typings';
import { InputError, issue } from '@meshwright/core/errors';
import { type Planned, planJob, type Shown } from '@meshwright/core/plan';
import { exitCodes, type Host, type Session } from '../host.ts';
import { type JobFile, readJobFile } from '../input/job-file.ts';
import { printIssues } from '../output/issues.ts';
import { count, fixed, percent, whole } from '../output/numbers.ts';
import {
  degreeWords,
  exposedShare,
  fullestBytes,
  gib,
  headline,
  linkLines,
  rejectionWords,
  shortLayout,
} from '../output/plan-words.ts';
import { createProgress } from '../output/progress.ts';
import { type Format, formatOf, formatOption, jsonOption, printReport, type Report } from '../output/report.ts';
import { numbers, type Table, tableOf, words } from '../output/table.ts';

const USUAL_TOP = 5;

/** Adds `plan JOB`. */
export function registerPlan(command: Command, session: Session): void {
  command
    .command('plan')
    .description('The best layouts of a job, ranked, and why the first one is first.')
    .argument('<JOB>', 'a job file (YAML or JSON), - for standard input')
    .option('--layout <KEYS>', 'keys that are fixed, as in tp=8,pp=4; the rest is searched')
    .addOption(new Option('--top <N>', 'how many layouts to show').argParser(topOf))
    .addOption(formatOption())
    .addOption(jsonOption())
    .action((path, options) => {
      const { host } = session;
      const file = readJobFile(path, options.layout, host);
      const planned = planWithProgress(file, options.top ?? USUAL_TOP, host);
      const format = formatOf(options);
      const issues = planned.issues.map(file.place);
      if (format !== 'json') printIssues([...file.issues, ...issues], host);
      if (planned.plans.length === 0 || planned.issues.some((each) => each.severity === 'error'))
        session.end(exitCodes.failed);
      printReport(planReport({ ...planned, issues }, path, options.layout, format), format, host);
    });
}

function planWithProgress(file: JobFile, top: number, host: Host): Planned {
  const progress = createProgress(host);
  try {
    return file.placing(() =>
      planJob(file.job, {
        top,
        onProgress: (done, total, phase) =>
          progress.update(
            phase === 'bound'
              ? `bounding ${whole(done)} of ${whole(total)} layouts`
              : `evaluated ${whole(done)} layouts`,
          ),
      }),
    );
  } finally {
    progress.done();
  }
}

function topOf(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= 1000) return value;
  throw new InputError([
    issue('VALUE_OUT_OF_RANGE', '--top', `${text} is not a whole number from 1 to 1,000.`, 'Use 5.'),
  ]);
}

function planReport(planned: Planned, path: string, layoutText: string | undefined, format: Format): Report {
  const [first, second] = planned.plans;
  return {
    answer: first ? `best: ${degreeWords(first.layout)} - ${headline(first)}` : 'no layout of this job fits',
    tables: first ? [planTable(planned.plans, format)] : [],
    reasons: [
      ...(first ? linkLines(first) : []),
      ...(first && second ? [aheadOf(first, second, planned)] : []),
      consideredWords(planned),
      ...(first
        ? [`In full: meshwright show ${path} --layout ${first.layout.short}`]
        : layoutText
          ? ['Free some keys of --layout.']
          : []),
    ],
    json: () => planned,
  };
}

function planTable(plans: readonly Shown[], format: Format): Table {
  const short = plans.every(({ step }) => step.seconds < 1);
  return tableOf(plans, [
    numbers('#', (_, index) => String(index + 1)),
    numbers(short ? 'step ms~' : 'step s~', ({ step }) =>
      short ? fixed(step.seconds * 1e3, 2) : fixed(step.seconds, 2),
    ),
    numbers('tokens/s/GPU~', ({ step }) => whole(step.tokensPerSecondPerGpu)),
    numbers('MFU %~', ({ step }) => percent(step.mfu)),
    numbers('memory GiB~', (shown) => gib(fullestBytes(shown))),
    numbers('exposed %~', (shown) => percent(exposedShare(shown))),
    numbers('bubble %~', ({ pipeline }) => percent(pipeline.bubbleShare)),
    words('fits', ({ memory }) =>
      memory.verdict === 'fits' ? 'yes' : memory.verdict === 'at-risk' ? 'at risk' : 'no',
    ),
    words('layout', ({ layout }) => (format === 'text' ? shortLayout(layout.short) : layout.short)),
  ]);
}

function aheadOf(first: Shown, second: Shown, { explain }: Planned): string {
  const ahead = (second.step.seconds - first.step.seconds) / first.step.seconds;
  const parts = explain.map((reason) => reason.words).join(', ');
  const because = parts === '' ? '' : `: ${parts}`;
  return `#1 is ${percent(ahead, 2)} % ahead of #2${because}.`;
}

function consideredWords({ considered, legal, evaluated, rejected, proven }: Planned): string {
  const reasons = rejectionWords(rejected);
  const proof = proven ? ' No layout of this space that fits is faster (proven by bounds).' : '';
  const without = reasons === '' ? '' : `; rejected: ${reasons}`;
  return `${count(considered, 'layout')} considered, ${whole(legal)} legal, ${whole(evaluated)} evaluated${without}.${proof}`;
}
