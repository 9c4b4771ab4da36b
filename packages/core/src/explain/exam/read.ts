/** @file Answers as people and files write them. */
import { didYouMean, type Issue, issue } from '../../errors/index.ts';
import type { Answer, Answers, Question, QuestionId } from './types.ts';

/** What could be read, and what not. */
export interface ReadAnswers {
  readonly answers: Answers;
  readonly issues: readonly Issue[];
}

/** Reads answers by the id of their question: `8 x 32 x 2` or a list, a number, the letter or the words of a choice. */
export function readAnswers(questions: readonly Question[], given: Readonly<Record<string, unknown>>): ReadAnswers {
  const answers: Partial<Record<QuestionId, Answer>> = {};
  const issues: Issue[] = [];
  const ids = questions.map(({ id }) => id);
  for (const [id, value] of Object.entries(given)) {
    const question = questions.find((each) => each.id === id);
    if (!question) {
      const near = didYouMean(id, ids);
      const hint = near ? `Did you mean ${near}?` : `Use ${ids.join(', ')}.`;
      issues.push(issue('KEY_UNKNOWN', id, `${id} is not a question of this exam.`, hint));
      continue;
    }
    const answer = readAnswer(question, value);
    if (answer) answers[question.id] = answer;
    else
      issues.push(
        issue(
          'VALUE_WRONG_TYPE',
          id,
          `${JSON.stringify(value)} is not ${wanted(question)}.`,
          `Use ${wanted(question)}.`,
        ),
      );
  }
  return { answers, issues };
}

function readAnswer(question: Question, value: unknown): Answer | undefined {
  switch (question.kind) {
    case 'numbers': {
      const numbers = Array.isArray(value) ? value.map(Number) : (String(value).match(/-?[\d.]+/g) ?? []).map(Number);
      const [tensor, pipeline, data, more] = numbers;
      if (tensor === undefined || pipeline === undefined || data === undefined || more !== undefined) return undefined;
      return numbers.every(Number.isFinite) ? { kind: 'numbers', degrees: [tensor, pipeline, data] } : undefined;
    }
    case 'number': {
      const text = String(value).replaceAll(',', '').trim();
      const number = Number(/^-?[\d.]+/.exec(text)?.[0]);
      return text !== '' && Number.isFinite(number) ? { kind: 'number', value: number } : undefined;
    }
    case 'choice': {
      const index = choiceIn(question.choices, String(value).trim().toLowerCase());
      return index < 0 ? undefined : { kind: 'choice', index };
    }
  }
}

/** Place of a choice that is named by its letter, or by words that only it begins with or has. */
function choiceIn(choices: readonly string[], text: string): number {
  if (/^[a-z]$/.test(text)) return text.charCodeAt(0) - 97 < choices.length ? text.charCodeAt(0) - 97 : -1;
  if (text === '') return -1;
  const found = choices.flatMap((choice, index) => (choice.toLowerCase().includes(text) ? [index] : []));
  return found.length === 1 ? (found[0] ?? -1) : -1;
}

function wanted(question: Question): string {
  switch (question.kind) {
    case 'numbers':
      return 'three numbers such as 8 x 8 x 8';
    case 'number':
      return `a number (${question.unit})`;
    case 'choice':
      return `a letter from a to ${String.fromCharCode(96 + question.choices.length)}`;
  }
}
