/** @file What the readers of lines share: values that remember where they were written, and a cursor over chunks. */
import type { Path } from '../json/read-shape.ts';
import type { Template } from '../types.ts';
import { type Chunk, complain, type Line, type Source } from './chunks.ts';
import { readNumber, readWord } from './words.ts';

/** A value under construction. Whether it has the right shape is checked when all lines have been read. */
export type Raw = Record<string, unknown>;

/** What has to be known of the whole text before its lines can be read. */
export interface Outline {
  readonly layers: number;
  readonly blocks: ReadonlyMap<string, Template['block']>;
}

export interface Reader {
  readonly source: Source;
  readonly outline: Outline;
  /** Where the keys of each value were written; the empty key is the value itself. */
  readonly places: Map<object, Map<string | number, Chunk>>;
}

/** Sets a key of a value and remembers where it was written. */
export function put(reader: Reader, owner: Raw, key: string, value: unknown, at: Chunk): void {
  owner[key] = value;
  notePlace(reader, owner, key, at);
}

/** Appends to a list and remembers where it was written. */
export function append(reader: Reader, owner: unknown[], value: unknown, at: Chunk): void {
  notePlace(reader, owner, owner.length, at);
  owner.push(value);
}

export function notePlace({ places }: Reader, owner: object, key: string | number, at: Chunk): void {
  const known = places.get(owner) ?? new Map<string | number, Chunk>();
  places.set(owner, known);
  known.set(key, at);
}

/** The place that is nearest to the end of a path. */
export function findPlace({ places }: Reader, root: unknown, path: Path): Chunk | undefined {
  let nearest: Chunk | undefined;
  let value: unknown = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return nearest;
    nearest = places.get(value)?.get(key) ?? nearest;
    value = Object.hasOwn(value, key) ? (value as Raw)[key] : undefined;
  }
  return nearest;
}

/** Takes the chunks of a line one after the other. */
export interface Cursor {
  readonly line: Line;
  /** The next chunk, which stays. */
  peek(): Chunk | undefined;
  /** The next chunk, or a complaint that `what` is missing. */
  take(what: string): Chunk | undefined;
  /** Complains about what is left over. */
  end(): void;
}

export function createCursor({ source }: Reader, line: Line, start: number): Cursor {
  let index = start;
  return {
    line,
    peek: () => line.chunks[index],
    take: (what) => {
      const chunk = line.chunks[index];
      index += 1;
      if (chunk === undefined) complain(source, line, `The line ends where ${what} has to stand.`);
      return chunk;
    },
    end: () => {
      const rest = line.chunks[index];
      if (rest) complain(source, rest, `${shown(rest)} is more than the line takes.`);
    },
  };
}

/** A chunk in a message. */
export const shown = ({ text }: Chunk): string => (text.length > 60 ? `${text.slice(0, 57)}...` : text);

/** The name that a chunk stands for. */
export function nameOf({ source }: Reader, chunk: Chunk, what: string): string | undefined {
  const name = readWord(chunk.text);
  if (name === undefined || name === '') {
    complain(source, chunk, `${chunk.text === '' ? 'Nothing' : shown(chunk)} stands where ${what} has to stand.`);
    return undefined;
  }
  return name;
}

/** The number that a chunk stands for. */
export function numberOf({ source }: Reader, chunk: Chunk, what: string): number | undefined {
  const value = readNumber(chunk.text);
  if (value === undefined || !Number.isFinite(value)) {
    complain(source, chunk, `${chunk.text === '' ? 'Nothing' : shown(chunk)} stands where ${what} has to stand.`);
    return undefined;
  }
  return value;
}

/** Takes a name and puts it under a key. */
export function putName(reader: Reader, owner: Raw, key: string, what: string, cursor: Cursor): boolean {
  const chunk = cursor.take(what);
  const name = chunk && nameOf(reader, chunk, what);
  if (chunk === undefined || name === undefined) return false;
  put(reader, owner, key, name, chunk);
  return true;
}
