/** @file What an exam asks, what is answered, and how it is marked. */
import type { Issue } from '../../errors/index.ts';

export type QuestionId =
  | 'devices'
  | 'numbers'
  | 'tensorLink'
  | 'tensorCollective'
  | 'pipelineLink'
  | 'pipelineCollective'
  | 'dataLink'
  | 'dataCollective'
  | 'box'
  | 'bubble'
  | 'zeroState'
  | 'zeroChange';

interface Asked {
  readonly id: QuestionId;
  readonly asks: string;
}

/** A question takes three whole numbers (tensor, pipeline, data), one number in a unit, or one of several choices. */
export type Question =
  | (Asked & { readonly kind: 'numbers' })
  | (Asked & { readonly kind: 'number'; readonly unit: string })
  | (Asked & { readonly kind: 'choice'; readonly choices: readonly string[] });

/** `numbers`: tensor, pipeline, data. `choice`: its place in the list, from 0. */
export type Answer =
  | { readonly kind: 'numbers'; readonly degrees: readonly [number, number, number] }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'choice'; readonly index: number };

export type Answers = Readonly<Partial<Record<QuestionId, Answer>>>;

export interface Mark {
  readonly id: QuestionId;
  readonly given?: string;
  readonly right: boolean;
  /** The right answer and why; of a wrong one its first wrong step. */
  readonly says: string;
}

/** The questions about one job. */
export interface Exam {
  readonly schema: 'meshwright.exam/1';
  /** Absent for the exam that everybody is asked. */
  readonly seed?: number;
  /** The job in sentences. */
  readonly situation: string;
  readonly questions: readonly Question[];
}

export interface MarkedExam extends Exam {
  readonly marks: readonly Mark[];
  readonly points: number;
  readonly outOf: number;
  /** The first question whose answer is wrong. */
  readonly firstWrong?: QuestionId;
  /** Answers that could not be read. */
  readonly issues: readonly Issue[];
}

/** One axis of the answer: what joins its ranks, what they exchange, and how much. */
export interface SolvedAxis {
  readonly axis: 'tensor' | 'pipeline' | 'data';
  readonly degree: number;
  readonly link: string;
  readonly crossesNode: boolean;
  readonly collectives: readonly string[];
  /** Bytes that one rank of the slowest stage sends in a step. */
  readonly bytesPerRank: number;
}

export interface SolvedExam extends Exam {
  readonly numbers: readonly [number, number, number];
  readonly layout: string;
  readonly seconds: number;
  readonly axes: readonly SolvedAxis[];
  /** Tensor degrees under which one layer is larger than a device, each with its reason. */
  readonly refused: readonly Issue[];
  /** What a tensor group of two boxes would cost. */
  readonly wider: string;
  /** The right answer to each question. */
  readonly answers: readonly { readonly id: QuestionId; readonly says: string }[];
}
