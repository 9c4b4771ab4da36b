/** @file `meshwright exam`: the questions of the field about one job, asked and marked. */
import { type Command, Option } from '@commander-js/extra-typings';
import { InputError, type Issue, issue } from '@meshwright/core/errors';
import { createExam, type ExamPaper, type MarkedExam, type Question, readAnswers } from '@meshwright/core/explain';
import { readPlain } from '@meshwright/core/io';
import { exitCodes, type Host, type Session } from '../host.ts';
import { readNamed } from '../input/files.ts';
import { printIssues } from '../output/issues.ts';
import { jsonOption, printReport } from '../output/report.ts';
import { wrap } from '../output/wrap.ts';
import { markReport, markWords, paperReport, questionWords, solutionReport } from './exam-words.ts';

const WIDTH = 100;

/** Adds `exam`. */
export function registerExam(command: Command, session: Session): void {
  command
    .command('exam')
    .description(
      'The questions of the field: three numbers for a job that no GPU holds a layer of, and why. Asked and marked.',
    )
    .addOption(new Option('--seed <N>', 'another job than that of 512 GPUs').argParser(seedOf))
    .option('--answers <FILE>', 'mark the answers of a file (YAML or JSON, by question), - for standard input')
    .option('--solution', 'the answers, with what each rests on')
    .addOption(jsonOption())
    .action(async (options) => {
      const { host } = session;
      const paper = createExam(options.seed);
      const format = options.json ? 'json' : 'text';
      if (options.solution) return printReport(solutionReport(paper.solve()), format, host);
      if (options.answers !== undefined) {
        const { given, place } = readAnswerFile(options.answers, host);
        const found = paper.mark(given);
        const marked = { ...found, issues: found.issues.map(place) };
        if (format === 'text') printIssues(marked.issues, host);
        if (marked.points < marked.outOf) session.end(exitCodes.failed);
        return printReport(markReport(marked), format, host);
      }
      if (options.json || host.ask === undefined)
        return printReport(paperReport(paper.exam, options.seed), format, host);
      return askAll(paper, host.ask, host);
    });
}

function seedOf(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0 && value <= 2 ** 31) return value;
  throw new InputError([issue('VALUE_OUT_OF_RANGE', '--seed', `${text} is not a whole number from 0 on.`, 'Use 1.')]);
}

interface AnswerFile {
  readonly given: Readonly<Record<string, unknown>>;
  readonly place: (each: Issue) => Issue;
}

function readAnswerFile(path: string, host: Host): AnswerFile {
  const { value, issues, place } = readPlain(readNamed(path, host), path === '-' ? 'standard input' : path);
  if (issues.length > 0) throw new InputError(issues);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return { given: value as Record<string, unknown>, place };
  }
  const hint = 'Write answers by question, as in numbers: 8 x 8 x 8.';
  throw new InputError([issue('VALUE_WRONG_TYPE', '--answers', `${path} is no mapping.`, hint)]);
}

/** Asks one question after the other and marks each at once; an empty answer is none. Ends when the input does. */
async function askAll(paper: ExamPaper, ask: NonNullable<Host['ask']>, host: Host): Promise<void> {
  const { exam } = paper;
  host.out.write(`${wrap(exam.situation, WIDTH).join('\n')}\n\n`);
  const given: Record<string, unknown> = {};
  let marked: MarkedExam | undefined;
  for (const [index, question] of exam.questions.entries()) {
    const text = await askOne(question, index, ask, host);
    if (text === undefined) break;
    if (text !== '') given[question.id] = text;
    marked = paper.mark(given);
    const mark = marked.marks.find(({ id }) => id === question.id);
    if (mark) host.out.write(`${wrap(markWords(mark), WIDTH, '   ').join('\n')}\n\n`);
  }
  if (marked) host.out.write(`${marked.points} of ${marked.outOf}\n`);
}

/** Asks until the answer can be read. */
async function askOne(
  question: Question,
  index: number,
  ask: NonNullable<Host['ask']>,
  host: Host,
): Promise<string | undefined> {
  host.out.write(`${questionWords(question, index)}\n`);
  for (;;) {
    const text = (await ask('> '))?.trim();
    if (text === undefined || text === '') return text;
    const [unreadable] = readAnswers([question], { [question.id]: text }).issues;
    if (unreadable === undefined) return text;
    host.out.write(`   ${unreadable.message}\n`);
  }
}
