/** @file Reads the lines that open a section: the header, tables, templates and lists. */
import { type Chunk, complain, type Line } from './chunks.ts';
import type { Claim } from './read-operations.ts';
import { pair, readBucket, readBuffer, readUnit, readView } from './read-tables.ts';
import { append, createCursor, nameOf, numberOf, put, putName, type Raw, type Reader, shown } from './reader.ts';

/** The program so far, and what the rows that follow belong to. */
export interface State {
  readonly program: Raw & { groups: unknown[]; buffers: unknown[]; templates: unknown[]; lists: unknown[] };
  list: (Raw & { buckets: unknown[]; units: unknown[]; buffers: unknown[]; items: unknown[] }) | undefined;
  /** Reads a row of the table that is open. */
  row: ((line: Line) => void) | undefined;
  /** Where numbered lines go. */
  numbered: { readonly into: unknown[]; readonly kind: 'template' | 'list' } | undefined;
  readonly claims: { readonly claim: Claim; readonly list: number; readonly line: number }[];
}

type SectionReader = (reader: Reader, state: State, line: Line) => void;

const opening = (line: Line): Chunk => line.chunks[0] as Chunk;

/** Header lines stand once. */
function once(reader: Reader, { program }: State, line: Line, key: string): boolean {
  if (!Object.hasOwn(program, key)) return true;
  complain(reader.source, opening(line), `There is a line ${opening(line).text} already.`);
  return false;
}

const readProgramLine: SectionReader = (reader, state, line) => {
  if (!once(reader, state, line, 'name')) return;
  const cursor = createCursor(reader, line, 1);
  putName(reader, state.program, 'name', 'the name of the program', cursor);
  putName(reader, state.program, 'schema', 'meshwright.program/1', cursor);
  cursor.end();
};

const readMesh: SectionReader = (reader, state, line) => {
  if (!once(reader, state, line, 'mesh')) return;
  const mesh: Raw = {};
  put(reader, mesh, 'axes', readAxes(reader, line), opening(line));
  put(reader, state.program, 'mesh', mesh, opening(line));
};

/** The second grid of the same ranks; it follows the first. */
const readExperts: SectionReader = (reader, { program }, line) => {
  const mesh = program['mesh'] as Raw | undefined;
  if (mesh === undefined || Object.hasOwn(mesh, 'experts')) {
    const message = mesh ? 'There is a line experts already.' : 'The line experts stands before the line mesh.';
    return complain(reader.source, opening(line), message);
  }
  put(reader, mesh, 'experts', readAxes(reader, line), opening(line));
};

/** `tensor:2 data:2`. */
function readAxes(reader: Reader, line: Line): unknown[] {
  const axes: unknown[] = [];
  for (const chunk of line.chunks.slice(1)) {
    const [name, degree] = pair(chunk);
    if (degree === undefined) {
      complain(reader.source, chunk, `${shown(chunk)} is no axis with its degree.`, 'Write tensor:2.');
      continue;
    }
    const axis: Raw = {};
    put(reader, axis, 'name', nameOf(reader, name, 'an axis'), name);
    put(reader, axis, 'degree', numberOf(reader, degree, 'a degree'), degree);
    append(reader, axes, axis, chunk);
  }
  return axes;
}

const readGroup: SectionReader = (reader, state, line) => {
  const cursor = createCursor(reader, line, 1);
  const group: Raw = {};
  if (!putName(reader, group, 'name', 'the name of a group', cursor)) return;
  if (!putName(reader, group, 'along', 'an axis', cursor)) return;
  const coordinates: unknown[] = [];
  const joint: unknown[] = [];
  let into = coordinates;
  for (const chunk of line.chunks.slice(3)) {
    if (chunk.text === 'with') into = joint;
    else if (chunk.text === 'repeats') put(reader, group, 'repeats', true, chunk);
    else if (into === joint) append(reader, joint, nameOf(reader, chunk, 'an axis'), chunk);
    else append(reader, coordinates, numberOf(reader, chunk, 'a coordinate'), chunk);
  }
  put(reader, group, 'coordinates', coordinates, opening(line));
  if (into === joint) put(reader, group, 'joint', joint, opening(line));
  append(reader, state.program.groups, group, opening(line));
};

const sizeKeys: Readonly<Record<string, string>> = {
  layers: 'layers',
  'micro-batches': 'microBatches',
  'loss-scale': 'lossScale',
};

const readSizes: SectionReader = (reader, { program }, line) => {
  for (const chunk of line.chunks.slice(1)) {
    const [name, value] = pair(chunk);
    const key = Object.hasOwn(sizeKeys, name.text) ? sizeKeys[name.text] : undefined;
    if (key === undefined || value === undefined) {
      const hint = `The sizes: ${Object.keys(sizeKeys).join(', ')}.`;
      complain(reader.source, chunk, `${shown(chunk)} is no size of a program.`, hint);
    } else if (Object.hasOwn(program, key)) {
      complain(reader.source, chunk, `${name.text} is given twice.`);
    } else {
      put(reader, program, key, numberOf(reader, value, 'a number'), chunk);
    }
  }
};

const readOptimizer: SectionReader = (reader, state, line) => {
  if (!once(reader, state, line, 'optimizer')) return;
  const cursor = createCursor(reader, line, 1);
  putName(reader, state.program, 'optimizer', 'an optimizer', cursor);
  cursor.end();
};

/** A table whose rows go into a list as they are read. */
const openTable =
  (reader: Reader, into: unknown[], read: (reader: Reader, line: Line) => Raw | undefined) =>
  (line: Line): void => {
    const value = read(reader, line);
    if (value) append(reader, into, value, opening(line));
  };

const readBuffers: SectionReader = (reader, state, line) => {
  createCursor(reader, line, 1).end();
  state.row = openTable(reader, (state.list ?? state.program).buffers, readBuffer);
  state.numbered = undefined;
};

const readTemplate: SectionReader = (reader, state, line) => {
  const cursor = createCursor(reader, line, 1);
  const template: Raw = {};
  const operations: unknown[] = [];
  putName(reader, template, 'name', 'the name of a template', cursor);
  putName(reader, template, 'block', 'embed, layer or head', cursor);
  putName(reader, template, 'direction', 'forward or backward', cursor);
  if (cursor.peek()) putName(reader, template, 'part', 'input or weight', cursor);
  cursor.end();
  put(reader, template, 'operations', operations, opening(line));
  append(reader, state.program.templates, template, opening(line));
  state.list = undefined;
  state.row = undefined;
  state.numbered = { into: operations, kind: 'template' };
};

const readList: SectionReader = (reader, state, line) => {
  const cursor = createCursor(reader, line, 1);
  const list: NonNullable<State['list']> = { buckets: [], units: [], buffers: [], items: [] };
  putName(reader, list, 'name', 'the name of a list', cursor);
  const chunk = cursor.take('its pipeline coordinate');
  const [key, value] = chunk ? pair(chunk) : [];
  if (chunk && key?.text === 'pipeline' && value) {
    put(reader, list, 'pipeline', numberOf(reader, value, 'a pipeline coordinate'), chunk);
  } else if (chunk) {
    complain(reader.source, chunk, `${shown(chunk)} is no pipeline coordinate.`, 'Write pipeline:0.');
  }
  cursor.end();
  append(reader, state.program.lists, list, opening(line));
  state.list = list;
  state.row = undefined;
  state.numbered = undefined;
};

/** A section that stands inside a list only. */
const inList =
  (read: (reader: Reader, state: State, line: Line, list: NonNullable<State['list']>) => void): SectionReader =>
  (reader, state, line) => {
    if (state.list) return read(reader, state, line, state.list);
    complain(reader.source, opening(line), `${opening(line).text} stands outside of a list.`);
  };

/** Every word that opens a section. */
export const sectionReaders: Readonly<Record<string, SectionReader>> = {
  program: readProgramLine,
  mesh: readMesh,
  experts: readExperts,
  group: readGroup,
  sizes: readSizes,
  optimizer: readOptimizer,
  buffers: readBuffers,
  template: readTemplate,
  list: readList,
  bucket: inList((reader, state, line, list) => {
    const bucket = readBucket(reader, line);
    if (bucket === undefined) return;
    append(reader, list.buckets, bucket, opening(line));
    state.row = openTable(reader, bucket['views'] as unknown[], readView);
    state.numbered = undefined;
  }),
  unit: inList((reader, state, line, list) => {
    const unit = readUnit(reader, line);
    if (unit) append(reader, list.units, unit, opening(line));
    state.row = undefined;
  }),
  lines: inList((reader, state, line, list) => {
    createCursor(reader, line, 1).end();
    state.row = undefined;
    state.numbered = { into: list.items, kind: 'list' };
  }),
};
