/** @file The exam of the field: three numbers for a job whose layers are larger than a GPU, where each axis goes, and why.
 *
 * Without a seed it is the one that everybody is asked (512 GPUs); with one it is drawn. What is right comes from the
 * laws and from the search over the job, so marks can say by how much an answer loses.
 */
import { assertInvariant, type Issue } from '../../errors/index.ts';
import type { Job } from '../../job/index.ts';
import { formatLayout } from '../../layout/index.ts';
import { isLegal } from '../trials.ts';
import { gib, time } from '../words.ts';
import { drawnJobs, usualJob } from './job.ts';
import { degreesOf, type ExamKey, keyOf, layerRefusal, productWords, slower } from './key.ts';
import { marksOf, rightAnswer } from './mark.ts';
import { questionsOf, situationOf } from './questions.ts';
import { readAnswers } from './read.ts';
import type { Answers, Exam, MarkedExam, SolvedAxis, SolvedExam } from './types.ts';

/** An exam with its job; what is right is worked out when it is asked for. */
export interface ExamPaper {
  readonly exam: Exam;
  readonly job: Job;
  /** Marks what a person or a file answered: by the id of the question, text or numbers. */
  mark(given: Readonly<Record<string, unknown>>): MarkedExam;
  solve(): SolvedExam;
}

/** The exam of a seed, a whole number from 0 on; without one that of 512 GPUs. A drawn job is searched at once: one whose
 * fastest layout breaks the rules that the exam asks for is no exam, and the next is drawn.
 */
export function createExam(seed?: number): ExamPaper {
  let key: ExamKey | undefined;
  const solved = (): ExamKey => {
    key ??= keyOf(usualJob());
    assertInvariant(key !== undefined, () => 'nothing fits the job of the exam');
    return key;
  };
  if (seed !== undefined) {
    for (const drawn of drawnJobs(seed)) {
      key = keyOf(drawn);
      if (key) break;
    }
  }
  const job = key?.job ?? usualJob();
  const exam: Exam = {
    schema: 'meshwright.exam/1',
    ...(seed !== undefined && { seed }),
    situation: situationOf(job),
    questions: questionsOf(job),
  };
  return {
    exam,
    job,
    mark: (given) => {
      const { answers, issues } = readAnswers(exam.questions, given);
      return marked(exam, solved(), answers, issues);
    },
    solve: () => solutionOf(exam, solved()),
  };
}

function marked(exam: Exam, key: ExamKey, answers: Answers, issues: readonly Issue[]): MarkedExam {
  const marks = marksOf(key, exam.questions, answers);
  const firstWrong = marks.find(({ right }) => !right)?.id;
  const points = marks.filter(({ right }) => right).length;
  return { ...exam, marks, points, outOf: marks.length, ...(firstWrong && { firstWrong }), issues };
}

function solutionOf(exam: Exam, key: ExamKey): SolvedExam {
  const { best, trials } = key;
  const numbers = degreesOf(best);
  const refused = Array.from({ length: key.tensorNeeded - 1 }, (_, index) => layerRefusal(key, index + 1));
  const shown = trials.shownOf(best);
  return {
    ...exam,
    numbers,
    layout: formatLayout(best.candidate.layout),
    seconds: best.candidate.evaluation.seconds,
    axes: (['tensor', 'pipeline', 'data'] as const).map((axis, index): SolvedAxis => {
      const rows = shown.traffic.filter((row) => row.axis === axis && row.collective !== 'recv');
      const { name, crossesNode } = best.evaluator.pricesOf(best.candidate.layout).linkOf([axis]);
      const bytesPerRank = rows.reduce((sum, row) => sum + row.bytesPerRank, 0);
      const heavy = rows.filter((row) => row.bytesPerRank > bytesPerRank / 100);
      return {
        axis,
        degree: numbers[index] ?? 1,
        link: name,
        crossesNode,
        collectives: [...new Set(heavy.map((row) => row.collective))],
        bytesPerRank,
      };
    }),
    refused: refused.filter((each) => each !== undefined),
    wider: widerWords(key),
    answers: exam.questions.map(({ id }) => ({ id, says: rightAnswer(key, id, numbers) })),
  };
}

/** Why a tensor group of two boxes is worse, by the best layout that has one. */
function widerWords({ trials, job, best }: ExamKey): string {
  const tensor = 2 * job.cluster.intra.gpus;
  const trial = trials.bestOf({ tensor });
  if (!isLegal(trial)) return `Tensor ${tensor} is not possible: no layout that has it is legal.`;
  const [wide, inside] = [trials.shownOf(trial), trials.shownOf(best)];
  const waits = (shown: typeof wide): string => time(shown.step.partsSeconds.tensor);
  const sent = (shown: typeof wide): string =>
    gib(shown.traffic.filter((row) => row.axis === 'tensor').reduce((sum, row) => sum + row.bytesPerRank, 0));
  return (
    `Tensor ${tensor} reaches over ${job.cluster.inter.name}: its best layout (${productWords(degreesOf(trial))}) sends ${sent(wide)} a rank ` +
    `for the tensor axis (${sent(inside)} with tensor ${best.candidate.layout.tensor}) and waits ${waits(wide)} for it (${waits(inside)}); ` +
    `its step takes ${slower(trial, best)} more.`
  );
}

export { readAnswers } from './read.ts';
export type {
  Exam,
  Mark,
  MarkedExam,
  Question,
  QuestionId,
  SolvedExam,
} from './types.ts';
