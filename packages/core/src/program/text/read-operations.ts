/** @file Reads the numbered lines of templates and lists: operations and calls. */
import { issue, quoteName } from '../../errors/index.ts';
import { suggest } from '../json/read-shape.ts';
import { kernels } from '../kernels/index.ts';
import type { CollectiveKind, Lane, Operation } from '../types.ts';
import { usualBlock } from './calls.ts';
import { type Chunk, complain, type Line, partOf, positionOf, splitChunk } from './chunks.ts';
import { axisOfLane, reduces } from './operation-cells.ts';
import { readTail, type Tail } from './read-tail.ts';
import { append, type Cursor, createCursor, nameOf, numberOf, put, type Raw, type Reader, shown } from './reader.ts';

/** What a call says it takes and gives; held against its template when all is read. */
export interface Claim {
  readonly at: Chunk;
  readonly reads: string;
  readonly writes: string;
}

export interface NumberedLine {
  readonly number: number;
  readonly at: Chunk;
  /** An operation, or a call without `id`. */
  readonly value: Raw;
  readonly isCall: boolean;
  readonly needs: readonly number[];
  readonly claim?: Claim;
}

const collectives: Readonly<Record<CollectiveKind, true>> = {
  'all-reduce': true,
  'reduce-scatter': true,
  'all-gather': true,
  broadcast: true,
  'all-to-all': true,
  shift: true,
};
const plainVerbs: readonly string[] = ['send', 'recv', 'wait', 'alloc', 'free'];
const verbs: readonly string[] = [...Object.keys(kernels), ...Object.keys(collectives), ...plainVerbs, 'host', 'mark'];

/** `n lane verb reads -> writes tail`. */
export function readNumbered(reader: Reader, line: Line): NumberedLine | undefined {
  const cursor = createCursor(reader, line, 0);
  const at = cursor.take('a number');
  const number = at && numberOf(reader, at, 'the number of the line');
  const lane = cursor.take('a lane');
  const verb = cursor.take('what the line does');
  if (at === undefined || number === undefined || lane === undefined || verb === undefined) return undefined;
  const call = /^([^]+)\[([^\]]*)\]$/.exec(verb.text);
  const operands = readOperands(cursor);
  const tail = readTail(reader, cursor, call === null ? 'operation' : 'call');
  if (call) {
    const value = readCall(reader, lane, verb, call[1] ?? '', call[2] ?? '', tail);
    const claim = operands.arrow && {
      at: operands.reads[0] ?? operands.arrow,
      reads: operands.reads.map((chunk) => chunk.text).join(' '),
      writes: ['->', ...operands.writes.map((chunk) => chunk.text)].join(' '),
    };
    return value && { number, at, value, isCall: true, needs: tail.needs, ...(claim && { claim }) };
  }
  const value = readOperation(reader, lane, verb, tail);
  if (value === undefined) return undefined;
  putOperands(reader, value, operands);
  put(reader, value, 'why', whyOf(value, tail), tail.rule?.at ?? verb);
  return { number, at, value, isCall: false, needs: tail.needs };
}

interface Operands {
  readonly reads: readonly Chunk[];
  readonly arrow: Chunk | undefined;
  readonly writes: readonly Chunk[];
}

/** Everything before the arrow is read; what follows is written, up to the first word of the tail. */
function readOperands(cursor: Cursor): Operands {
  const { chunks } = cursor.line;
  const arrow = chunks.findIndex((chunk, index) => index >= 3 && chunk.text === '->');
  if (arrow < 0) return { reads: [], arrow: undefined, writes: [] };
  const reads = chunks.slice(3, arrow);
  for (let skipped = 3; skipped <= arrow; skipped++) cursor.take('');
  const writes: Chunk[] = [];
  for (let chunk = cursor.peek(); chunk !== undefined && !startsTail(chunk); chunk = cursor.peek()) {
    writes.push(chunk);
    cursor.take('');
  }
  return { reads, arrow: chunks[arrow], writes };
}

const tailWords =
  /^(over|in|dim|reduce|factor|ring|tree|halving-doubling|hierarchical|direct|inner|to|from|again|using|needs|why)$|^(?:"(?:[^"\\]|\\.)*"|[^"=+]*)=[^]/;

const startsTail = ({ text }: Chunk): boolean => tailWords.test(text);

function putOperands(reader: Reader, value: Raw, { reads, writes }: Operands): void {
  const read: unknown[] = [];
  for (const chunk of reads) append(reader, read, nameOf(reader, chunk, 'a buffer'), chunk);
  value['reads'] = read;
  const written: unknown[] = [];
  for (const chunk of writes) {
    const accumulate = chunk.text.endsWith('+=');
    const name = accumulate ? partOf(chunk, 0, chunk.text.length - 2) : chunk;
    const write: Raw = {};
    put(reader, write, 'buffer', nameOf(reader, name, 'a buffer'), chunk);
    if (accumulate) write['accumulate'] = true;
    append(reader, written, write, chunk);
  }
  value['writes'] = written;
}

function readOperation(reader: Reader, lane: Chunk, verb: Chunk, tail: Tail): Raw | undefined {
  const [head = verb, detail] = splitChunk(verb, ':');
  const value: Raw = {};
  put(reader, value, 'lane', lane.text, lane);
  const kind = kindOf(head.text);
  if (kind === undefined) {
    const position = positionOf(reader.source, verb.line, verb.column);
    const message = `${quoteName(head.text)} is no kernel and no exchange.`;
    reader.source.issues.push({ ...issue('VALUE_UNKNOWN', '', message, suggest(head.text, verbs)), position });
    return undefined;
  }
  put(reader, value, 'kind', kind, verb);
  const detailed = kind === 'collective' || kind === 'host' || kind === 'mark';
  if (detail && !detailed) complain(reader.source, detail, `${head.text} takes nothing after a colon.`);
  if ((kind === 'host' || kind === 'mark') && detail === undefined) {
    complain(
      reader.source,
      verb,
      `${kind} does not say ${kind === 'host' ? 'which work' : 'which phase'}.`,
      `Write ${kind}:NAME.`,
    );
  }
  const named = detail && detailed ? nameOf(reader, detail, 'a name') : undefined;
  switch (kind) {
    case 'compute':
      put(reader, value, 'kernel', head.text, verb);
      if (tail.attributes) value['attributes'] = tail.attributes;
      break;
    case 'collective':
      putCollective(reader, value, verb, named, tail);
      break;
    case 'host':
      put(reader, value, 'work', named, verb);
      break;
    case 'mark':
      put(reader, value, 'phase', named, verb);
      break;
    case 'send':
    case 'recv':
      if (tail.peer) put(reader, value, 'peer', tail.peer.value, tail.peer.at);
      else complain(reader.source, verb, `${kind} does not say ${kind === 'send' ? 'to' : 'from'} which stage.`);
      break;
  }
  return value;
}

function kindOf(head: string): Operation['kind'] | undefined {
  if (Object.hasOwn(kernels, head)) return 'compute';
  if (Object.hasOwn(collectives, head)) return 'collective';
  if (head === 'host' || head === 'mark') return head;
  return plainVerbs.includes(head) ? (head as Operation['kind']) : undefined;
}

function putCollective(reader: Reader, value: Raw, verb: Chunk, detail: string | undefined, tail: Tail): void {
  const collective = splitChunk(verb, ':')[0]?.text ?? '';
  put(reader, value, 'collective', collective, verb);
  const axis = tail.over?.value ?? axisOfLane[value['lane'] as Lane];
  if (axis === undefined) {
    complain(reader.source, verb, 'This lane serves no axis of its own.', 'Say which one: over tensor.');
  }
  put(reader, value, 'axis', axis, tail.over?.at ?? verb);
  const summed = collective === 'all-reduce';
  const dim = summed ? tail.dim?.value : detail;
  const usual = reduces(collective) ? 'sum' : undefined;
  const reduce = summed ? detail : tail.reduce ? tail.reduce.value : usual;
  if (dim !== undefined) put(reader, value, 'dim', dim, tail.dim?.at ?? verb);
  if (reduce !== undefined && reduce !== 'nothing') put(reader, value, 'reduce', reduce, tail.reduce?.at ?? verb);
  if (tail.accumulateIn) put(reader, value, 'accumulateIn', tail.accumulateIn.value, tail.accumulateIn.at);
  put(reader, value, 'factor', tail.factor?.value ?? 1, tail.factor?.at ?? verb);
  put(reader, value, 'algorithm', tail.algorithm?.value ?? 'ring', tail.algorithm?.at ?? verb);
  if (tail.inner) put(reader, value, 'inner', tail.inner.value, tail.inner.at);
}

function whyOf(value: Raw, { rule, on, of }: Tail): Raw {
  if (rule === undefined) return { rule: 'model' };
  const axis = on ? (on.value === '-' ? undefined : on.value) : value['axis'];
  return {
    rule: rule.value,
    ...(axis !== undefined && { axis }),
    ...(of && { bucket: of.value }),
  };
}

const indexForm = /^(?:(-?\d+)(?:\.\.(-?\d+))?,)?(\d+)$/;

function readCall(reader: Reader, lane: Chunk, verb: Chunk, name: string, index: string, tail: Tail): Raw | undefined {
  const { source, outline } = reader;
  if (lane.text !== 'compute') {
    complain(source, lane, `A call stands on lane compute, not on ${shown(lane)}.`);
  }
  const template = nameOf(reader, partOf(verb, 0, name.length), 'the name of a template');
  const numbers = indexForm.exec(index);
  if (template === undefined) return undefined;
  if (numbers === null) {
    const hint = 'Write [LAYER,MICRO-BATCH], [FIRST..LAST,MICRO-BATCH], or [MICRO-BATCH] for embed and head.';
    complain(source, partOf(verb, name.length), `[${index}] is no index of a call.`, hint);
    return undefined;
  }
  const [, from, to, microBatch] = numbers;
  const block = outline.blocks.get(template);
  const first = from === undefined ? usualBlock(block, outline.layers) : Number(from);
  const call: Raw = {};
  put(reader, call, 'template', template, verb);
  if (first === undefined) {
    const position = positionOf(source, verb.line, verb.column);
    if (block === undefined) {
      const hint = suggest(template, [...outline.blocks.keys()]);
      const message = `There is no template ${quoteName(template)}.`;
      source.issues.push({ ...issue('PROGRAM_NAME_UNKNOWN', '', message, hint), position });
    } else {
      complain(
        source,
        partOf(verb, name.length),
        'The call does not say for which layer.',
        'Write [LAYER,MICRO-BATCH].',
      );
    }
    return undefined;
  }
  put(reader, call, 'first', first, verb);
  put(reader, call, 'last', to === undefined ? first : Number(to), verb);
  put(reader, call, 'microBatch', Number(microBatch), verb);
  if (tail.again) put(reader, call, 'again', true, tail.again);
  if (tail.using) put(reader, call, 'using', tail.using, verb);
  return call;
}
