/** @file The one error channel of Meshwright: issues with stable codes.
 *
 * Everything a user can get wrong is an {@link Issue}; functions that validate return all of them, constructors throw
 * one {@link InputError} with all of them. What we got wrong is an `internal:` error from {@link assertInvariant}.
 * Nothing else is thrown. The codes, with meaning and fix, are the literal tables under `codes/`.
 */
import type { codes } from './codes/index.ts';

export { type CodeRow, codes } from './codes/index.ts';

export type Code = keyof typeof codes;
export type Severity = 'error' | 'warning' | 'note';

/** Where in a file an issue stands; line and column count from 1, `text` is the whole line. */
export interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly text: string;
}

/** One thing that is wrong or worth knowing: `<what is wrong>: <value> <relation> <value>. <what to do>.` */
export interface Issue {
  readonly code: Code;
  readonly severity: Severity;
  /** Dotted path of the input that it speaks of, for example `layout.tensor`. */
  readonly path: string;
  /** What is wrong, with the values; ends with a full stop. */
  readonly message: string;
  /** What to do; ends with a full stop. */
  readonly hint?: string;
  readonly values?: Readonly<Record<string, number | string | readonly (number | string)[]>>;
  readonly position?: Position;
}

/** An issue of severity `error`. */
export function issue(code: Code, path: string, message: string, hint?: string, values?: Issue['values']): Issue {
  return { code, severity: 'error', path, message, ...(hint && { hint }), ...(values && { values }) };
}

/** An issue of severity `warning`. */
export function warning(code: Code, path: string, message: string, hint?: string, values?: Issue['values']): Issue {
  return { ...issue(code, path, message, hint, values), severity: 'warning' };
}

/** Thrown by constructors that were given input with errors; carries all of them. */
export class InputError extends Error {
  readonly issues: readonly Issue[];
  constructor(issues: readonly Issue[]) {
    super(issues.map((each) => renderIssue(each)).join('\n'));
    this.name = 'InputError';
    this.issues = issues;
  }
}

/** Throws an {@link InputError} with all `issues` when one of them is an error. */
export function throwOnErrors(issues: readonly Issue[]): void {
  if (issues.some((each) => each.severity === 'error')) throw new InputError(issues);
}

/** An issue as text: place and code first, then line and caret when the place is known. */
export function renderIssue(each: Issue): string {
  const { position } = each;
  const place = position ? `${position.file}:${position.line}:${position.column}  ` : '';
  const path = each.path === '' ? '' : `${each.path}: `;
  const hint = each.hint === undefined ? '' : ` ${each.hint}`;
  const head = `${place}${each.code}  ${path}${each.message}${hint}`;
  if (!position) return head;
  const [shown, column] = windowOf(position.text, position.column);
  const caret = `${shown.slice(0, column - 1).replace(/[^\t]/g, ' ')}^`;
  return `${head}\n    ${shown}\n    ${caret}`;
}

const WIDEST = 160;

/** The part of a long line that holds `column`, and the column in that part: minified JSON is one line. */
function windowOf(text: string, column: number): readonly [text: string, column: number] {
  if (text.length <= WIDEST) return [text, column];
  const start = column <= WIDEST - 10 ? 0 : column - WIDEST / 2;
  const end = start + WIDEST;
  const shown = `${start > 0 ? '...' : ''}${text.slice(start, end)}${end < text.length ? '...' : ''}`;
  return [shown, column - start + (start > 0 ? 3 : 0)];
}

/** A broken invariant of ours, never of the user's. The message is built only when it is needed. */
export function assertInvariant(condition: boolean, message: () => string): asserts condition {
  if (!condition) {
    throw new Error(`internal: ${message()}. Please report this with the output of 'meshwright program print'.`);
  }
}

/** For the default branch of a switch that must cover a union. */
export function assertUnreachable(value: never): never {
  throw new Error(`internal: unexpected ${JSON.stringify(value)}.`);
}

export { didYouMean } from './did-you-mean.ts';
export { quote, quoteName } from './quote.ts';
