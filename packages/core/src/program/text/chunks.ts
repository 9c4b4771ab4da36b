/** @file Cuts the text of a program into lines and chunks that know where they stand. */
import type { Issue, Position } from '../../errors/index.ts';
import { issue } from '../../errors/index.ts';

/** A piece of a line without blanks outside of quotes and brackets; `column` counts from 1. */
export interface Chunk {
  readonly text: string;
  readonly line: number;
  readonly column: number;
}

/** A line that says something. */
export interface Line {
  readonly chunks: readonly Chunk[];
  readonly number: number;
}

/** The text that is read, and what is wrong with it so far. */
export interface Source {
  readonly file: string;
  readonly rows: readonly string[];
  readonly issues: Issue[];
}

export const createSource = (text: string, file: string): Source => ({
  file,
  rows: text.split('\n').map((row) => row.replace(/\r$/, '')),
  issues: [],
});

export function positionOf(source: Source, line: number, column: number): Position {
  return { file: source.file, line, column, text: source.rows[line - 1] ?? '' };
}

/** Notes what is wrong at a chunk, or after the last one of a line. */
export function complain(source: Source, at: Chunk | Line, message: string, hint?: string): void {
  const place = 'chunks' in at ? endOf(at) : at;
  const position = positionOf(source, place.line, place.column);
  source.issues.push({ ...issue('PROGRAM_SYNTAX', '', message, hint), position });
}

function endOf(line: Line): { line: number; column: number } {
  const last = line.chunks[line.chunks.length - 1];
  return { line: line.number, column: last ? last.column + last.text.length : 1 };
}

/** Lines with their chunks; blank lines and comments (`#` to the end of the line) are left out. */
export function readLines(source: Source): readonly Line[] {
  return source.rows
    .map((row, index): Line => ({ chunks: chunksOf(row, index + 1), number: index + 1 }))
    .filter((line) => line.chunks.length > 0);
}

/** A chunk runs on over blanks inside quotes and square brackets; an unclosed one ends with the line. */
function chunksOf(row: string, line: number): readonly Chunk[] {
  const chunks: Chunk[] = [];
  let index = 0;
  while (index < row.length) {
    if (/\s/.test(row[index] ?? '')) {
      index += 1;
      continue;
    }
    if (row[index] === '#') break;
    const end = chunkEnd(row, index);
    chunks.push({ text: row.slice(index, end), line, column: index + 1 });
    index = end;
  }
  return chunks;
}

function chunkEnd(row: string, start: number): number {
  let depth = 0;
  let index = start;
  while (index < row.length) {
    const character = row[index] ?? '';
    if (character === '"') index = stringEnd(row, index) - 1;
    else if (character === '[') depth += 1;
    else if (character === ']') depth -= 1;
    else if (depth <= 0 && /\s/.test(character)) break;
    index += 1;
  }
  return index;
}

/** The place after the closing quote. */
function stringEnd(row: string, start: number): number {
  let index = start + 1;
  while (index < row.length && row[index] !== '"') index += row[index] === '\\' ? 2 : 1;
  return Math.min(index, row.length - 1) + 1;
}

/** The pieces of a chunk between separators that stand outside of quotes. */
export function splitChunk({ text, line, column }: Chunk, separator: string): readonly Chunk[] {
  const pieces: Chunk[] = [];
  let start = 0;
  let index = 0;
  while (index <= text.length) {
    const character = text[index];
    if (character === undefined || (separator === ' ' ? /\s/.test(character) : character === separator)) {
      if (separator !== ' ' || index > start) {
        pieces.push({ text: text.slice(start, index), line, column: column + start });
      }
      start = index + 1;
    }
    index = character === '"' ? stringEnd(text, index) : index + 1;
  }
  return pieces;
}

/** A part of a chunk. */
export const partOf = ({ text, line, column }: Chunk, from: number, to: number = text.length): Chunk => ({
  text: text.slice(from, to),
  line,
  column: column + from,
});
