/** @file Calls of templates as turns: calls of one micro-batch that follow on each other are one turn, long ones are several. */
import { assertInvariant } from '../../../errors/index.ts';
import type { Call, Program, Template } from '../../types.ts';
import type { TurnRows } from './rows.ts';

/** A turn takes so many operations at most, or one block. */
const MOST_OPERATIONS = 96;

/** Calls of a list as they come. */
export interface Calls {
  /** `ends`: others need its end. */
  add(call: Call, ends: boolean): void;
  /** Something else follows. */
  close(): void;
}

export function createCalls(program: Program, rows: TurnRows): Calls {
  const templateOf = knownTemplates(program);
  const turn = createOpenTurn(Math.max(1, program.microBatches), rows);
  return {
    close: turn.close,
    add: (call, ends) => {
      const known = templateOf(call.template);
      const isAlone = call.needs.length > 0 || call.using !== undefined || known.meets;
      if (isAlone || call.microBatch !== turn.microBatch()) turn.close();
      rows.needs(call);
      const { length } = known.template.operations;
      if (known.meets) writeApart(call, length, rows);
      else if (length > 0) addPieces(known, call, turn);
      if (isAlone || ends) turn.close();
      rows.ended(call.id);
    },
  };
}

interface KnownTemplate {
  readonly template: Template;
  /** Its exchanges may join other lists. */
  readonly meets: boolean;
  /** Numbers of its pieces, by blocks and direction. */
  readonly pieces: Map<number, number>;
}

function knownTemplates({ templates, groups }: Program): (name: string) => KnownTemplate {
  const stages = new Set(['pipeline', ...groups.flatMap(({ name, along }) => (along === 'pipeline' ? [name] : []))]);
  const known = new Map(
    templates.map((template): [string, KnownTemplate] => [
      template.name,
      {
        template,
        meets: template.operations.some(
          (each) =>
            each.kind === 'send' || each.kind === 'recv' || (each.kind === 'collective' && stages.has(each.axis)),
        ),
        pieces: new Map(),
      },
    ]),
  );
  return (name) => {
    const found = known.get(name);
    assertInvariant(found !== undefined, () => `no template ${name}`);
    return found;
  };
}

/** Every operation by itself: some may wait for other lists. */
function writeApart(call: Call, length: number, rows: TurnRows): void {
  const operations = length * (Math.abs(call.last - call.first) + 1);
  const row = rows.write(call, operations);
  for (let at = 0; at < operations; at++) rows.turn(0, row + at, 0, 1);
}

function addPieces({ template, pieces }: KnownTemplate, call: Call, turn: OpenTurn): void {
  const { length } = template.operations;
  const step = call.last < call.first ? -1 : 1;
  const most = Math.max(1, Math.floor(MOST_OPERATIONS / length));
  for (let first = call.first; (call.last - first) * step >= 0; first += step * most) {
    const last = first + step * Math.min(most - 1, Math.abs(call.last - first));
    const key = ((first + 1) * MOST_PIECES + last + 1) * 2 + (call.again ? 1 : 0);
    let piece = pieces.get(key);
    if (piece === undefined) {
      piece = turn.newPiece();
      pieces.set(key, piece);
    }
    turn.add(call, first, last, piece, length * (Math.abs(last - first) + 1));
  }
}

/** Numbers of pieces, and of blocks, are below this. */
const MOST_PIECES = 2 ** 20;

/** The turn at hand. */
interface OpenTurn {
  /** Of its calls; -1 where there is none. */
  microBatch(): number;
  newPiece(): number;
  add(call: Call, first: number, last: number, piece: number, operations: number): void;
  close(): void;
}

interface Form {
  readonly form: number;
  /** What its turns repeat; undefined where each has memory of its own. */
  readonly shared: { readonly row: number; readonly microBatch: number } | undefined;
}

function createOpenTurn(microBatches: number, rows: TurnRows): OpenTurn {
  const chains = new Map<number, number>();
  const forms = new Map<number, Form>();
  // Of the turn at hand, up to `count`; written over by the next one.
  const calls: Call[] = [];
  const firsts: number[] = [];
  const lasts: number[] = [];
  const sizes: number[] = [];
  let count = 0;
  let chain = 0;
  let operations = 0;
  let pieces = 0;
  const write = (): number => {
    let row = -1;
    for (let at = 0; at < count; at++) {
      const blocks = { first: firsts[at] as number, last: lasts[at] as number };
      const from = rows.write({ ...(calls[at] as Call), ...blocks }, sizes[at] as number);
      if (row < 0) row = from;
    }
    return row;
  };
  const flush = (): void => {
    if (count === 0) return;
    const call = calls[0] as Call;
    const { microBatch } = call;
    const isOwn = call.using !== undefined || microBatch >= microBatches;
    let known = forms.get(chain);
    let row = known?.shared?.row ?? -1;
    if (isOwn || row < 0) row = write();
    if (known === undefined || (known.shared === undefined && !isOwn)) {
      known = { form: known?.form ?? rows.form(row, operations), shared: isOwn ? undefined : { row, microBatch } };
      forms.set(chain, known);
    }
    rows.turn(known.form, row, isOwn ? 0 : microBatch - (known.shared?.microBatch ?? microBatch), operations);
    chain = 0;
    operations = 0;
    count = 0;
  };
  return {
    microBatch: () => (count === 0 ? -1 : (calls[0] as Call).microBatch),
    newPiece: () => pieces++,
    add: (call, first, last, piece, size) => {
      if (operations + size > MOST_OPERATIONS) flush();
      calls[count] = call;
      firsts[count] = first;
      lasts[count] = last;
      sizes[count] = size;
      count += 1;
      operations += size;
      const key = chain * MOST_PIECES + piece;
      const known = chains.get(key);
      chain = known ?? chains.size + 1;
      if (known === undefined) chains.set(key, chain);
    },
    close: flush,
  };
}
