/** @file Marks answers. Three numbers are checked as an engineer would check them, one step after the other; what is said is
 * the first step that fails. Later questions are about the numbers that were given, where these are possible.
 */
import { gpuCount } from '../../cluster/index.ts';
import { share, time, whole } from '../words.ts';
import {
  bubbleOf,
  type Degrees,
  degreesOf,
  type ExamKey,
  judgeDegrees,
  layerRefusal,
  productWords,
  slower,
  staysInside,
  tensorIssue,
  zeroState,
} from './key.ts';
import { collectives, linksOf, rightChoice } from './questions.ts';
import type { Answer, Answers, Mark, Question, QuestionId } from './types.ts';

/** Percent points and shares within which a number is right. */
const BUBBLE_WITHIN = 0.5;
const STATE_WITHIN = 0.05;

type Verdict = Pick<Mark, 'right' | 'says'>;

/** Marks every question; a question without an answer is wrong, and is told the right one. */
export function marksOf(key: ExamKey, questions: readonly Question[], answers: Answers): readonly Mark[] {
  const degrees = usableDegrees(key, answers);
  return questions.map((question): Mark => {
    const answer = answers[question.id];
    if (answer === undefined) {
      return { id: question.id, right: false, says: `Not answered. ${rightAnswer(key, question.id, degrees)}` };
    }
    return { id: question.id, given: wordsOf(question, answer), ...judge(key, question.id, answer, degrees) };
  });
}

/** The degrees that later questions are about: the given ones when their product is right, else those of the search. */
function usableDegrees({ job, best }: ExamKey, { numbers }: Answers): Degrees {
  const given = numbers?.kind === 'numbers' ? numbers.degrees : undefined;
  const isUsable = given?.every((each) => each >= 1) && given[0] * given[1] * given[2] === gpuCount(job.cluster);
  return given && isUsable && job.batch.sequences % given[2] === 0 ? given : degreesOf(best);
}

function wordsOf(question: Question, answer: Answer): string {
  switch (answer.kind) {
    case 'numbers':
      return productWords(answer.degrees);
    case 'number':
      return String(answer.value);
    case 'choice':
      return question.kind === 'choice' ? (question.choices[answer.index] ?? '') : '';
  }
}

function judge(key: ExamKey, id: QuestionId, answer: Answer, degrees: Degrees): Verdict {
  const says = rightAnswer(key, id, degrees);
  if (answer.kind === 'numbers') return judgeNumbers(key, answer.degrees);
  if (answer.kind === 'choice') {
    const axis = axisOf(id);
    if (axis !== undefined && degrees[axis] === 1) return { right: true, says: 'One rank exchanges with nobody.' };
    return { right: answer.index === choiceOf(key, id, degrees), says };
  }
  const { value } = answer;
  switch (id) {
    case 'devices':
      return judgeDevices(key, value);
    case 'bubble':
      return { right: Math.abs(value - 100 * bubbleOf(key.job, degrees)) <= BUBBLE_WITHIN, says };
    default:
      return { right: Math.abs(value - zeroState(degrees[2])) <= STATE_WITHIN, says };
  }
}

/** Place among the degrees of the axis that a question is about. */
function axisOf(id: QuestionId): 0 | 1 | 2 | undefined {
  if (id.startsWith('tensor')) return 0;
  if (id.startsWith('pipeline')) return 1;
  return id.startsWith('data') ? 2 : undefined;
}

function judgeDevices(key: ExamKey, value: number): Verdict {
  const says = rightAnswer(key, 'devices', degreesOf(key.best));
  const broken = value === Math.ceil(key.layerDevices) ? tensorIssue(key.job, value) : undefined;
  if (value !== key.tensorNeeded && broken)
    return { right: false, says: `Enough memory, but ${broken.message} ${says}` };
  return { right: value === key.tensorNeeded, says };
}

/** The steps of an engineer: a product, a legal split, a layer that fits, a box, memory. */
function judgeNumbers(key: ExamKey, degrees: Degrees): Verdict {
  const { job, best } = key;
  const [tensor, , data] = degrees;
  const wrong = (says: string): Verdict => ({ right: false, says: `${says} ${bestWords(key)}` });
  if (degrees.some((each) => !Number.isInteger(each) || each < 1))
    return wrong('They are not three positive whole numbers.');
  const product = degrees.reduce((sum, each) => sum * each, 1);
  const gpus = gpuCount(job.cluster);
  if (product !== gpus) return wrong(`${productWords(degrees)} is ${whole(product)}, not ${whole(gpus)}.`);
  const split = tensorIssue(job, tensor);
  if (split) return wrong(`The heads cannot be split so: ${split.message}`);
  const refusal = layerRefusal(key, tensor);
  if (refusal) return wrong(`${refusal.code}: ${refusal.message}`);
  const judged = judgeDegrees(key, degrees);
  if (typeof judged === 'string') return wrong(`It does not work: ${judged}.`);
  if (!staysInside(job, tensor)) {
    const { name } = job.cluster.inter;
    return wrong(
      `Tensor ${tensor} leaves the box: every layer waits for ${name}. Such a step takes ${slower(judged, best)} more.`,
    );
  }
  const { seconds } = judged.candidate.evaluation;
  const own =
    seconds > best.candidate.evaluation.seconds
      ? `It takes ${slower(judged, best)} more than that. ${bestWords(key)}`
      : 'The search finds none faster.';
  const bubble = `${data} data ranks leave a bubble of ${share(bubbleOf(job, degrees))} under 1F1B.`;
  return { right: true, says: `It fits and takes ${time(seconds)} a step. ${own} ${bubble}` };
}

const bestWords = ({ best }: ExamKey): string => `The search finds ${productWords(degreesOf(best))}.`;

/** Place of the right choice. */
function choiceOf({ job }: ExamKey, id: QuestionId, [tensor, pipeline, data]: Degrees): number {
  const leaves = (reach: number): number => (reach > job.cluster.intra.gpus ? 1 : 0);
  switch (id) {
    case 'tensorLink':
      return leaves(tensor);
    case 'dataLink':
      return leaves(tensor * data);
    case 'pipelineLink':
      return leaves(tensor * data * pipeline);
    case 'pipelineCollective':
      return rightChoice.send;
    case 'box':
      return rightChoice.box;
    case 'zeroChange':
      return rightChoice.zeroChange;
    default:
      return rightChoice.reduce;
  }
}

/** The right answer in a sentence, with its numbers. */
export function rightAnswer(key: ExamKey, id: QuestionId, degrees: Degrees): string {
  const { job, layerDevices, tensorNeeded } = key;
  const [tensor, pipeline, data] = degrees;
  const link = linksOf(job)[choiceOf(key, id, degrees)] ?? '';
  const about = productWords(degrees);
  switch (id) {
    case 'devices':
      return `${tensorNeeded}: ${layerRefusal(key, 1)?.message ?? 'a layer fits one GPU.'} ${tensorNeeded} is the first number from ${layerDevices.toFixed(2)} on that divides the heads.`;
    case 'numbers':
      return bestWords(key);
    case 'tensorLink':
      return `${link}: a tensor group of ${tensor} is ranks 0 to ${tensor - 1}.`;
    case 'dataLink':
      return `${link}: data ranks are ${tensor} apart, ${data} of them reach over ${whole(tensor * data)} ranks (${about}).`;
    case 'pipelineLink':
      return `${link}: stages are ${whole(tensor * data)} ranks apart (${about}).`;
    case 'pipelineCollective':
      return `${collectives[rightChoice.send]}: activations forward, their gradients backward, ${whole(pipeline - 1)} borders.`;
    case 'tensorCollective':
      return `${collectives[rightChoice.reduce]}: two forward and two backward in each layer, two again when blocks are computed again.`;
    case 'dataCollective':
      return `${collectives[rightChoice.reduce]}: of the gradients, once a step.`;
    case 'box':
      return 'It exchanges activations in every layer while computing waits; data and pipeline exchange less and can hide.';
    case 'bubble':
      return `${share(bubbleOf(job, degrees))}: (p-1)/(m+p-1) with p = ${pipeline} and m = ${whole(job.batch.sequences)} / ${data} = ${whole(Math.floor(job.batch.sequences / data))} (${about}).`;
    case 'zeroState':
      return `2 + 4 + 12/${data} = ${zeroState(data).toFixed(2)} bytes (${about}).`;
    case 'zeroChange':
      return 'Optimizer state is divided; a reduce-scatter and an all-gather send what the all-reduce sent.';
  }
}
