/** @file Reads the text form of a program. Lines become values that remember their places; shape and references are then
 * checked as for JSON, and every issue gets the line and column that it speaks of.
 */
import type { Issue } from '../../errors/index.ts';
import { issue } from '../../errors/index.ts';
import { pathText, readProgram } from '../json/index.ts';
import type { Finding } from '../json/read-shape.ts';
import { suggest } from '../json/read-shape.ts';
import type { Program, Template } from '../types.ts';
import { vocabularyOf } from './calls.ts';
import { type Chunk, complain, createSource, type Line, positionOf, readLines, type Source } from './chunks.ts';
import { itemCells } from './operation-cells.ts';
import { type Claim, readNumbered } from './read-operations.ts';
import { type State, sectionReaders } from './read-sections.ts';
import { append, findPlace, type Outline, put, type Reader, shown } from './reader.ts';
import { readWord } from './words.ts';

/** A program when nothing is wrong with its text, and all that is wrong otherwise. */
export interface ProgramParse {
  readonly program?: Program;
  readonly issues: readonly Issue[];
}

/** Reads what `printProgram` writes, and what people write in that form. Comments are not read. Never throws.
 *
 * `file` stands in the positions of issues.
 */
export function parseProgram(text: string, file = 'program.txt'): ProgramParse {
  const { source, reader, state } = readText(text, file);
  const { program, findings } = readProgram(state.program);
  const issues = [...source.issues, ...kept(findings, source).map((each) => placed(each, reader, state))];
  if (program === undefined || issues.length > 0) return { issues };
  const contradictions = findContradictions(program, state, source);
  return contradictions.length > 0 ? { issues: contradictions } : { program, issues: [] };
}

/** Lines that could not be read leave gaps behind; what the gaps break elsewhere is not worth a message. */
function kept(findings: readonly Finding[], source: Source): readonly Finding[] {
  if (source.issues.length === 0) return findings;
  return findings.filter(({ code }) => code === 'VALUE_UNKNOWN' || code === 'VALUE_OUT_OF_RANGE');
}

function placed({ path, code, message, hint }: Finding, reader: Reader, { program }: State): Issue {
  const at = findPlace(reader, program, path);
  const position = positionOf(reader.source, at?.line ?? 1, at?.column ?? 1);
  return { ...issue(code, at ? '' : pathText(path), message, hint), position };
}

/** All lines of a text as one value whose shape nobody has checked yet. */
export function readText(text: string, file: string): { source: Source; reader: Reader; state: State } {
  const source = createSource(text, file);
  const lines = readLines(source);
  const reader: Reader = { source, outline: outlineOf(lines), places: new Map() };
  const state: State = {
    program: { groups: [], buffers: [], templates: [], lists: [] },
    list: undefined,
    row: undefined,
    numbered: undefined,
    claims: [],
  };
  for (const line of lines) readLine(reader, state, line);
  return { source, reader, state };
}

/** Layers, and the kind of block of each template: what the index of a call and the block of a view depend on. */
function outlineOf(lines: readonly Line[]): Outline {
  const blocks = new Map<string, Template['block']>();
  let layers = 0;
  for (const { chunks } of lines) {
    const [section, name, block] = chunks.map((chunk) => chunk.text);
    if (section === 'template' && name !== undefined) {
      blocks.set(readWord(name) ?? name, block as Template['block']);
    }
    const said = section === 'sizes' ? /\blayers:(\d+)/.exec(chunks.map((chunk) => chunk.text).join(' ')) : null;
    if (said) layers = Number(said[1]);
  }
  return { layers, blocks };
}

function readLine(reader: Reader, state: State, line: Line): void {
  const [first] = line.chunks;
  if (first === undefined) return;
  const section = Object.hasOwn(sectionReaders, first.text) ? sectionReaders[first.text] : undefined;
  if (section) return section(reader, state, line);
  if (first.column === 1) {
    const hint = suggest(first.text, Object.keys(sectionReaders));
    return complain(reader.source, first, `${shown(first)} is not the first word of a section.`, hint);
  }
  if (/^\d+$/.test(first.text)) return readNumberedLine(reader, state, line, first);
  if (state.row) return state.row(line);
  complain(reader.source, first, `${shown(first)} stands in no table.`, 'Rows belong to buffers or to a bucket.');
}

function readNumberedLine(reader: Reader, state: State, line: Line, first: Chunk): void {
  const { numbered } = state;
  if (numbered === undefined) {
    const hint = 'Numbered lines belong to a template, or to the lines of a list.';
    return complain(reader.source, first, `Line ${first.text} belongs to nothing.`, hint);
  }
  const read = readNumbered(reader, line);
  if (read === undefined) return;
  const { into, kind } = numbered;
  const expected = into.length + 1;
  if (read.number !== expected && reader.source.issues.length === 0) {
    const hint = 'Number the lines 1, 2, 3 ...';
    complain(reader.source, first, `Line ${read.number} stands where line ${expected} has to be.`, hint);
  }
  if (kind === 'template') {
    if (read.isCall) complain(reader.source, first, 'A template calls no templates.');
    else if (read.needs.length > 0) complain(reader.source, first, 'Lines of a template need no other lines.');
    return append(reader, into, read.value, first);
  }
  const item = read.isCall
    ? { kind: 'call', ...read.value, id: read.number, needs: read.needs }
    : { kind: 'operation', id: read.number, operation: read.value, needs: read.needs };
  const places = reader.places.get(read.value);
  if (read.isCall && places) reader.places.set(item, places);
  put(reader, item, 'id', read.number, first);
  if (read.claim) state.claims.push({ claim: read.claim, list: state.program.lists.length - 1, line: into.length });
  append(reader, into, item, first);
}

/** Calls that say they take or give something else than their templates do. */
function findContradictions(program: Program, { claims }: State, source: Source): readonly Issue[] {
  const vocabulary = vocabularyOf(program);
  return claims.flatMap(({ claim, list, line }) => {
    const item = program.lists[list]?.items[line];
    if (item === undefined) return [];
    const [, , reads = '', writes = ''] = itemCells(vocabulary, item);
    if (agrees(claim, reads, writes)) return [];
    const right = `${reads} ${writes}`.trim() || '->';
    const message = `The call says ${`${claim.reads} ${claim.writes}`.trim()}, but its template makes it ${right}.`;
    const position = positionOf(source, claim.at.line, claim.at.column);
    return [{ ...issue('PROGRAM_CONTRADICTS', '', message, 'Correct it, or leave it out.'), position }];
  });
}

const agrees = (claim: Claim, reads: string, writes: string): boolean =>
  claim.reads === reads && claim.writes === (writes === '' ? '->' : writes);
