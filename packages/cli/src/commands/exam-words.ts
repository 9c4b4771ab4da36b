/** @file Exams as people read them. */
import type { Exam, Mark, MarkedExam, Question, SolvedExam } from '@meshwright/core/explain';
import { formatSeconds, seconds } from '@meshwright/core/units';
import { whole } from '../output/numbers.ts';
import type { Report } from '../output/report.ts';
import { shellWords } from '../output/shell.ts';
import { numbers, tableOf, words } from '../output/table.ts';
import { wrap } from '../output/wrap.ts';

const WIDTH = 100;

/** A question with its choices under letters. */
export function questionWords(question: Question, index: number): string {
  const unit = question.kind === 'number' ? ` (${question.unit})` : '';
  const head = wrap(`${index + 1}. ${question.asks}${unit}`, WIDTH).join('\n   ');
  if (question.kind !== 'choice') return head;
  const choices = question.choices.map((choice, at) => `   ${String.fromCharCode(97 + at)}) ${choice}`);
  return [head, ...choices].join('\n');
}

/** `right. It fits ...`, `wrong: 3. ...`. */
export const markWords = ({ right, given, says }: Mark): string =>
  `${right ? 'right' : 'wrong'}${right || given === undefined ? '' : `: ${given.replace(/\.$/, '')}`}. ${says}`;

/** The questions, for those who answer in a file. */
export function paperReport(exam: Exam, seed: number | undefined): Report {
  const command = ['meshwright', 'exam', ...(seed === undefined ? [] : ['--seed', String(seed)])];
  return {
    answer: `${exam.questions.length} questions about one job`,
    paragraphs: [
      wrap(exam.situation, WIDTH).join('\n'),
      ...exam.questions.map((question, index) => `${questionWords(question, index)}\n   [${question.id}]`),
    ],
    tables: [],
    reasons: [
      `Answer in a file, by the names in brackets (numbers: 8 x 8 x 8, tensorLink: a), and: ${shellWords([...command, '--answers', 'FILE'])}`,
      `The answers: ${shellWords([...command, '--solution'])}`,
    ],
    json: () => exam,
  };
}

/** Every mark; the first wrong answer in the first line. */
export function markReport(marked: MarkedExam): Report {
  const { marks, points, outOf, firstWrong } = marked;
  const first = firstWrong === undefined ? 'nothing is wrong' : `the first wrong answer is ${firstWrong}`;
  return {
    answer: `${points} of ${outOf}: ${first}`,
    paragraphs: marks.map((mark) => wrap(`${mark.id} ${markWords(mark)}`, WIDTH).join('\n  ')),
    tables: [],
    reasons: [],
    json: () => marked,
  };
}

/** What is right: three numbers, each axis with its link, collective and bytes, and why. */
export function solutionReport(solved: SolvedExam): Report {
  const { numbers: degrees, layout, seconds: step, axes, refused, wider, answers, situation } = solved;
  return {
    answer: `${degrees.join(' x ')} = ${whole(degrees.reduce((product, each) => product * each, 1))}: tensor ${degrees[0]} \u00b7 pipeline ${degrees[1]} \u00b7 data ${degrees[2]}, ${formatSeconds(seconds(step))} a step~`,
    paragraphs: [wrap(situation, WIDTH).join('\n')],
    tables: [
      tableOf(axes, [
        words('axis', ({ axis }) => axis),
        numbers('ranks', ({ degree }) => whole(degree)),
        words('link', ({ link }) => link),
        words('leaves box', ({ crossesNode }) => (crossesNode ? 'yes' : 'no')),
        words('by', ({ collectives }) => collectives.join(', ')),
        numbers('GiB per rank and step', ({ bytesPerRank }) => (bytesPerRank / 2 ** 30).toFixed(1)),
      ]),
    ],
    reasons: [
      ...refused.map(({ code, message }) => wrap(`${code}  ${message}`, WIDTH).join('\n  ')),
      wrap(wider, WIDTH).join('\n  '),
      `Layout: ${layout}`,
      ...answers.map(({ id, says }) => wrap(`${id}: ${says}`, WIDTH).join('\n  ')),
    ],
    json: () => solved,
  };
}
