/** @file Reads the rows of tables: buffers, buckets, views, units. */
import type { Scope } from '../types.ts';
import { type Chunk, complain, type Line, partOf, splitChunk } from './chunks.ts';
import {
  append,
  type Cursor,
  createCursor,
  nameOf,
  notePlace,
  numberOf,
  put,
  putName,
  type Raw,
  type Reader,
  shown,
} from './reader.ts';
import { scopeMarks } from './tables.ts';

/** `name[l,u] role dtype [dims] +data resident bucket:b shard-of:G.b`. */
export function readBuffer(reader: Reader, line: Line): Raw | undefined {
  const cursor = createCursor(reader, line, 0);
  const named = cursor.take('the name of a buffer');
  if (named === undefined) return undefined;
  const [scope, mark] = scopeOf(named);
  const name = nameOf(reader, partOf(named, 0, named.text.length - mark.length), 'the name of a buffer');
  if (name === undefined) return undefined;
  const buffer: Raw = {};
  put(reader, buffer, 'name', name, named);
  if (!putName(reader, buffer, 'role', 'a role', cursor)) return undefined;
  if (!putName(reader, buffer, 'dtype', 'a type', cursor)) return undefined;
  if (!putDims(reader, buffer, cursor)) return undefined;
  put(reader, buffer, 'scope', scope, named);
  const partial: Raw[] = [];
  for (let mark = cursor.peek(); mark !== undefined; mark = cursor.peek()) {
    cursor.take('');
    readMark(reader, buffer, partial, mark);
  }
  if (partial.length > 0) buffer['partial'] = partial;
  return buffer;
}

/** The scope that follows a name, longest mark first. */
function scopeOf({ text }: Chunk): readonly [Scope, string] {
  const marks = Object.entries(scopeMarks) as readonly [Scope, string][];
  const fitting = marks.filter(([, mark]) => text.endsWith(mark));
  return fitting.reduce((best, each) => (each[1].length > best[1].length ? each : best), ['period', ''] as const);
}

function readMark(reader: Reader, buffer: Raw, partial: Raw[], chunk: Chunk): void {
  if (chunk.text.startsWith('+')) {
    const pieces = splitChunk(partOf(chunk, 1), ':');
    const over = pieces[pieces.length - 1] ?? chunk;
    const state: Raw = {};
    put(reader, state, 'over', nameOf(reader, over, 'an axis'), over);
    put(reader, state, 'reduce', pieces.length > 1 ? (pieces[0]?.text ?? '') : 'sum', chunk);
    append(reader, partial, state, chunk);
    return;
  }
  if (chunk.text === 'resident') return put(reader, buffer, 'resident', true, chunk);
  if (chunk.text === 'on-host') return put(reader, buffer, 'place', 'host', chunk);
  const [key, value] = pair(chunk);
  const field = key.text === 'bucket' ? 'bucket' : key.text === 'shard-of' ? 'shardOf' : undefined;
  if (field === undefined || value === undefined) {
    const hint = 'After its dims, a buffer has +AXIS, resident, bucket:NAME or shard-of:NAME.';
    return complain(reader.source, chunk, `${shown(chunk)} says nothing about a buffer.`, hint);
  }
  put(reader, buffer, field, nameOf(reader, value, 'a name'), chunk);
}

/** `key:value`; the value is undefined without a colon. */
export function pair(chunk: Chunk): readonly [Chunk, Chunk | undefined] {
  const [key = chunk, value] = splitChunk(chunk, ':');
  return [key, value && partOf(chunk, value.column - chunk.column)];
}

function putDims(reader: Reader, owner: Raw, cursor: Cursor): boolean {
  const chunk = cursor.take('dims in brackets');
  if (chunk === undefined) return false;
  if (!/^\[[^]*\]$/.test(chunk.text)) {
    complain(
      reader.source,
      chunk,
      `${shown(chunk)} stands where dims in brackets have to stand.`,
      'Write [s:4/tensor h:8].',
    );
    return false;
  }
  const dims: Raw[] = [];
  for (const piece of splitChunk(partOf(chunk, 1, chunk.text.length - 1), ' ')) {
    const dim = readDim(reader, piece);
    if (dim === undefined) return false;
    append(reader, dims, dim, piece);
  }
  put(reader, owner, 'dims', dims, chunk);
  return true;
}

/** `qkv:24{8,8,8}/tensor`, `s:8~/context`. */
function readDim(reader: Reader, chunk: Chunk): Raw | undefined {
  const [head = chunk, ...axes] = splitChunk(chunk, '/');
  const [label, size] = pair(head);
  const sizes = /^(\d+)(~?)(?:\{([\d,]*)\})?(?:%(\d+)(?:\*(\d+(?:\.\d+)?(?:e[+-]?\d+)?))?)?$/.exec(size?.text ?? '');
  if (sizes === null) {
    complain(
      reader.source,
      chunk,
      `${shown(chunk)} is no dim.`,
      'Write LABEL:SIZE, and /AXIS for each axis that cuts it.',
    );
    return undefined;
  }
  const dim: Raw = {};
  put(reader, dim, 'label', nameOf(reader, label, 'the label of a dim'), label);
  put(reader, dim, 'size', Number(sizes[1]), chunk);
  if (axes.length > 0) {
    const cut: unknown[] = [];
    for (const axis of axes) append(reader, cut, nameOf(reader, axis, 'an axis'), axis);
    put(reader, dim, 'cut', cut, chunk);
  }
  if (sizes[2] === '~') put(reader, dim, 'zigzag', true, chunk);
  if (sizes[3] !== undefined) put(reader, dim, 'parts', sizes[3].split(',').map(Number), chunk);
  if (sizes[4] !== undefined) put(reader, dim, 'routed', routing(reader, sizes[4], sizes[5] ?? '1', chunk), chunk);
  return dim;
}

/** `~8*1.25`: over 8 experts, the busiest rank with 1.25 times the mean. */
function routing(reader: Reader, experts: string, load: string, chunk: Chunk): Raw {
  const routed: Raw = {};
  put(reader, routed, 'experts', Number(experts), chunk);
  put(reader, routed, 'load', Number(load), chunk);
  return routed;
}

/** `bucket NAME elements:N summed:N frozen copies:GROUP`. */
export function readBucket(reader: Reader, line: Line): Raw | undefined {
  const cursor = createCursor(reader, line, 1);
  const bucket: Raw = {};
  if (!putName(reader, bucket, 'name', 'the name of a bucket', cursor)) return undefined;
  for (let chunk = cursor.peek(); chunk !== undefined; chunk = cursor.peek()) {
    cursor.take('');
    const [key, value] = pair(chunk);
    if (value && (key.text === 'elements' || key.text === 'summed')) {
      put(reader, bucket, key.text, numberOf(reader, value, 'a number of elements'), chunk);
    } else if (chunk.text === 'frozen') {
      put(reader, bucket, 'frozen', true, chunk);
    } else if (value && key.text === 'copies') {
      put(reader, bucket, 'copies', nameOf(reader, value, 'a group'), chunk);
    } else {
      const hint = 'A bucket has elements:N, summed:N, frozen and copies:GROUP.';
      complain(reader.source, chunk, `${shown(chunk)} says nothing about a bucket.`, hint);
    }
  }
  put(reader, bucket, 'views', [], line.chunks[0] as Chunk);
  return bucket;
}

/** `name block offset [dims] decay counted tensors`. */
export function readView(reader: Reader, line: Line): Raw | undefined {
  const cursor = createCursor(reader, line, 0);
  const view: Raw = {};
  if (!putName(reader, view, 'name', 'the name of a parameter', cursor)) return undefined;
  const block = cursor.take('a block');
  if (block === undefined) return undefined;
  const ends: Readonly<Record<string, number>> = { embed: -1, head: reader.outline.layers };
  const number = Object.hasOwn(ends, block.text) ? ends[block.text] : numberOf(reader, block, 'a block');
  put(reader, view, 'block', number, block);
  const offset = cursor.take('an offset');
  if (offset === undefined) return undefined;
  put(reader, view, 'offset', numberOf(reader, offset, 'an offset'), offset);
  if (!putDims(reader, view, cursor)) return undefined;
  const decay = cursor.take('decay or no-decay');
  if (decay === undefined) return undefined;
  if (decay.text !== 'decay' && decay.text !== 'no-decay') {
    complain(reader.source, decay, `${shown(decay)} stands where decay or no-decay has to stand.`);
  }
  put(reader, view, 'decay', decay.text === 'decay', decay);
  const counted = cursor.take('where the norm counts it');
  if (counted === undefined) return undefined;
  put(reader, view, 'counted', readCounted(reader, counted), counted);
  const tensors: Raw[] = [];
  for (let chunk = cursor.peek(); chunk !== undefined; chunk = cursor.peek()) {
    cursor.take('');
    const tensor = readTensor(reader, chunk);
    if (tensor) append(reader, tensors, tensor, chunk);
  }
  view['tensors'] = tensors;
  return view;
}

/** `everywhere`, or `tensor:0,pipeline:0`. */
function readCounted(reader: Reader, chunk: Chunk): readonly Raw[] {
  if (chunk.text === 'everywhere') return [];
  return splitChunk(chunk, ',').map((piece) => {
    const [axis, coordinate] = pair(piece);
    const counted: Raw = {};
    put(reader, counted, 'axis', axis.text, axis);
    if (coordinate === undefined) {
      complain(reader.source, piece, `${shown(piece)} is neither everywhere nor AXIS:COORDINATE.`);
    } else {
      put(reader, counted, 'coordinate', numberOf(reader, coordinate, 'a coordinate'), coordinate);
    }
    return counted;
  });
}

/** `transformer.wte.weight[16,8]`, `.T` after it when it is stored transposed. */
function readTensor(reader: Reader, chunk: Chunk): Raw | undefined {
  const found = /^([^]*)\[([\d,]*)\](\.T)?$/.exec(chunk.text);
  if (found === null) {
    complain(reader.source, chunk, `${shown(chunk)} is no tensor with its shape.`, 'Write NAME[16,8] or NAME[16,8].T.');
    return undefined;
  }
  const [, name = '', shape = '', transposed] = found;
  const tensor: Raw = {};
  put(reader, tensor, 'name', nameOf(reader, partOf(chunk, 0, name.length), 'the name of a tensor'), chunk);
  put(reader, tensor, 'shape', shape === '' ? [] : shape.split(',').map(Number), chunk);
  if (transposed !== undefined) tensor['transposed'] = true;
  return tensor;
}

/** `unit NAME of BUCKET ...`. */
export function readUnit(reader: Reader, line: Line): Raw | undefined {
  const cursor = createCursor(reader, line, 1);
  const unit: Raw = {};
  if (!putName(reader, unit, 'name', 'the name of a unit', cursor)) return undefined;
  const of = cursor.take('of');
  if (of !== undefined && of.text !== 'of') {
    complain(reader.source, of, `${shown(of)} stands where of has to stand.`, 'Write unit NAME of BUCKET ...');
  }
  const buckets: unknown[] = [];
  for (let chunk = cursor.peek(); chunk !== undefined; chunk = cursor.peek()) {
    cursor.take('');
    append(reader, buckets, nameOf(reader, chunk, 'a bucket'), chunk);
  }
  unit['buckets'] = buckets;
  notePlace(reader, unit, 'buckets', line.chunks[0] as Chunk);
  return unit;
}
