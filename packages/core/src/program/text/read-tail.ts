/** @file Reads the words after the operands of a line. */
import { type Chunk, complain, partOf, splitChunk } from './chunks.ts';
import { type Cursor, nameOf, numberOf, type Reader, shown } from './reader.ts';
import { readNumber, readWord } from './words.ts';

/** A word of the tail with its value and place. */
export interface Said<Value> {
  readonly value: Value;
  readonly at: Chunk;
}

/** What the tail of a line says; each word at most once. */
export interface Tail {
  over?: Said<string>;
  dim?: Said<string>;
  reduce?: Said<string>;
  accumulateIn?: Said<string>;
  factor?: Said<number>;
  algorithm?: Said<string>;
  inner?: Said<number>;
  peer?: Said<number>;
  again?: Chunk;
  using?: Readonly<Record<string, unknown>>;
  attributes?: Readonly<Record<string, unknown>>;
  rule?: Said<string>;
  on?: Said<string>;
  of?: Said<string>;
  needs: readonly number[];
}

type Words = Readonly<Record<string, (reader: Reader, tail: Tail, word: Chunk, cursor: Cursor) => void>>;

/** A word that is followed by one name. */
const named =
  (key: 'over' | 'dim' | 'reduce' | 'accumulateIn' | 'on' | 'of' | 'rule', what: string): Words[string] =>
  (reader, tail, _, cursor) => {
    const at = cursor.take(what);
    const value = at && nameOf(reader, at, what);
    if (at && value !== undefined) tail[key] = { value, at };
  };

/** A word that is followed by one number. */
const counted =
  (key: 'factor' | 'inner', what: string): Words[string] =>
  (reader, tail, _, cursor) => {
    const at = cursor.take(what);
    const value = at && numberOf(reader, at, what);
    if (at && value !== undefined) tail[key] = { value, at };
  };

const algorithm: Words[string] = (_, tail, word) => {
  tail.algorithm = { value: word.text, at: word };
};

const peer: Words[string] = (reader, tail, _, cursor) => {
  const at = cursor.take('a stage');
  if (at === undefined) return;
  const [stage, number] = splitChunk(at, ':');
  if (stage?.text !== 'stage' || number === undefined) {
    return complain(reader.source, at, `${shown(at)} is no stage.`, 'Write stage:1.');
  }
  const value = numberOf(reader, number, 'a stage');
  if (value !== undefined) tail.peer = { value, at };
};

const operationWords: Words = {
  over: named('over', 'an axis'),
  dim: named('dim', 'a dim'),
  reduce: named('reduce', 'a reduction'),
  in: named('accumulateIn', 'a type'),
  factor: counted('factor', 'a factor'),
  ring: algorithm,
  tree: algorithm,
  'halving-doubling': algorithm,
  hierarchical: algorithm,
  direct: algorithm,
  inner: counted('inner', 'how many members share a node'),
  to: peer,
  from: peer,
  needs: readNeeds,
  why: named('rule', 'a rule'),
  on: named('on', 'an axis or -'),
  of: named('of', 'a bucket'),
};

const callWords: Words = {
  again: (_, tail, word) => {
    tail.again = word;
  },
  using: readUsing,
  needs: readNeeds,
};

/** Reads to the end of the line. */
export function readTail(reader: Reader, cursor: Cursor, kind: 'operation' | 'call'): Tail {
  const words = kind === 'call' ? callWords : operationWords;
  const tail: Tail = { needs: [] };
  const seen = new Set<string>();
  const attributes = new Map<string, unknown>();
  for (let word = cursor.peek(); word !== undefined; word = cursor.peek()) {
    cursor.take('');
    if (seen.has(word.text)) complain(reader.source, word, `${shown(word)} is said twice.`);
    seen.add(word.text);
    const read = Object.hasOwn(words, word.text) ? words[word.text] : undefined;
    if (read) read(reader, tail, word, cursor);
    else if (kind === 'operation' && splitChunk(word, '=').length > 1) readAttribute(reader, attributes, word);
    else complainAbout(reader, word, Object.keys(words), cursor);
  }
  if (attributes.size > 0) tail.attributes = Object.fromEntries(attributes);
  return tail;
}

function complainAbout({ source }: Reader, word: Chunk, known: readonly string[], cursor: Cursor): void {
  const hasArrow = cursor.line.chunks.some((chunk) => chunk.text === '->');
  const hint = hasArrow
    ? `After what it writes a line has ${known.join(', ')}, or ATTRIBUTE=VALUE.`
    : 'Write what is read, ->, and what is written.';
  complain(source, word, `${shown(word)} stands where nothing more is known.`, hint);
}

function readAttribute(reader: Reader, attributes: Map<string, unknown>, chunk: Chunk): void {
  const [key = chunk] = splitChunk(chunk, '=');
  const value = partOf(chunk, key.text.length + 1);
  const name = nameOf(reader, key, 'the name of an attribute');
  if (name === undefined) return;
  if (attributes.has(name)) complain(reader.source, chunk, `Attribute ${name} is given twice.`);
  const number = readNumber(value.text);
  const text = readWord(value.text);
  if (number === undefined && text === undefined) {
    return complain(reader.source, value, `${shown(value)} is neither a number nor a word.`);
  }
  attributes.set(name, value.text.startsWith('"') ? text : (number ?? text));
}

/** `needs 4 7`. */
function readNeeds(reader: Reader, tail: Tail, word: Chunk, cursor: Cursor): void {
  const needs: number[] = [];
  for (let chunk = cursor.peek(); chunk && /^\d+$/.test(chunk.text); chunk = cursor.peek()) {
    needs.push(Number(chunk.text));
    cursor.take('');
  }
  if (needs.length === 0) complain(reader.source, word, 'needs is followed by no number of a line.');
  tail.needs = needs;
}

/** `using L0@3 L1@4`. */
function readUsing(reader: Reader, tail: Tail, word: Chunk, cursor: Cursor): void {
  const using = new Map<string, unknown>();
  for (let chunk = cursor.peek(); chunk; chunk = cursor.peek()) {
    const [bucket, run] = splitChunk(chunk, '@');
    if (bucket === undefined || run === undefined) break;
    cursor.take('');
    const name = nameOf(reader, bucket, 'a bucket');
    if (name !== undefined) using.set(name, numberOf(reader, run, 'the number of a copy'));
  }
  if (using.size === 0) complain(reader.source, word, 'using is followed by no BUCKET@COPY.');
  tail.using = Object.fromEntries(using);
}
