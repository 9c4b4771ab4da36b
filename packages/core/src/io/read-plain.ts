import type { Issue } from '../errors/index.ts';
import { LONGEST_JOB, placeIssue, readDocument } from './document.ts';

/** The value of a YAML or JSON text; absent where it cannot be read. */
export interface PlainReading {
  readonly value?: unknown;
  readonly issues: readonly Issue[];
  /** Gives an issue whose path is that of a key its position in the text. */
  place(each: Issue): Issue;
}

/** Reads a text whose keys mean something to others. Never throws on what a user wrote. */
export function readPlain(text: string, fileName: string): PlainReading {
  const { document, issues } = readDocument(text, fileName, LONGEST_JOB);
  if (!document) return { issues, place: (each) => each };
  return { value: document.value, issues, place: (each) => (each.position ? each : placeIssue(document, each)) };
}
