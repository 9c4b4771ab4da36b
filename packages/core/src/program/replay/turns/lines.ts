/** @file Lines of a list that are no calls, as turns of one operation. */
import type { ListOperation, Operation } from '../../types.ts';
import type { Book } from '../book.ts';
import { type Place, parted } from '../memories.ts';
import { alike } from '../samples.ts';
import type { TurnRows } from './rows.ts';

/** The row that lines of one sample repeat. */
interface LineRow {
  readonly row: number;
  readonly places: readonly Place[];
}

/** Lines of a list as they come. */
export interface Lines {
  add(item: ListOperation): void;
}

/** `microBatches`: memory of so many has numbers in a row; what lies elsewhere is written out by itself. */
export function createLines(rows: TurnRows, microBatches: number, lineOf: Book['lineOf']): Lines {
  const bySample = new Map<number, LineRow>();
  const messages = createMessages(microBatches);
  return {
    add: (item) => {
      const message = messages.find(item.operation);
      if (message !== undefined) {
        rows.turn(0, message.row, message.shift, 1);
        return;
      }
      const { sample, places } = lineOf(item, 0);
      const known = bySample.get(sample);
      const shift = known === undefined ? undefined : shiftOf(known.places, places, microBatches);
      if (known !== undefined && shift !== undefined) {
        rows.turn(0, known.row, shift, 1);
        return;
      }
      const row = rows.write(item, 1);
      bySample.set(sample, { row, places });
      messages.note(item.operation, row, places);
      rows.turn(0, row, 0, 1);
    },
  };
}

/** A message between stages that comes for every micro-batch: all of its buffer's name but the number, and that of its row. */
interface Message {
  readonly operation: Operation;
  readonly text: string;
  readonly number: number;
  readonly row: number;
}

/** Messages that differ in the micro-batch only are most lines of a list: found without writing their names apart. */
function createMessages(microBatches: number) {
  const known: Message[] = [];
  return {
    note: (operation: Operation, row: number, [place]: readonly Place[]): void => {
      const name = messageName(operation);
      if (name === undefined || place === undefined || place.each !== 'micro-batch') return;
      if (place.number < microBatches) known.push({ operation, text: parted(name).text, number: place.number, row });
    },
    find: (operation: Operation): { readonly row: number; readonly shift: number } | undefined => {
      const name = messageName(operation);
      if (name === undefined) return undefined;
      for (const { operation: one, text, number, row } of known) {
        if (!alike(one, operation) || !name.startsWith(text)) continue;
        const own = numberAt(name, text.length);
        if (own >= 0 && own < microBatches) return { row, shift: own - number };
      }
      return undefined;
    },
  };
}

/** The buffer of a message. */
function messageName({ kind, reads, writes }: Operation): string | undefined {
  if (kind === 'send') return reads.length === 1 && writes.length === 0 ? reads[0] : undefined;
  return kind === 'recv' && reads.length === 0 && writes.length === 1 ? writes[0]?.buffer : undefined;
}

const ZERO = '0'.charCodeAt(0);

/** The number that a name ends with before its bracket; -1 where something else stands there. */
function numberAt(name: string, from: number): number {
  const last = name.length - 1;
  if (from >= last || name[last] !== ']') return -1;
  let number = 0;
  for (let at = from; at < last; at++) {
    const digit = name.charCodeAt(at) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    number = 10 * number + digit;
  }
  return number;
}

/** How many micro-batches further all of a line lies than what is written out; undefined where some of it lies elsewhere. */
function shiftOf(written: readonly Place[], places: readonly Place[], microBatches: number): number | undefined {
  let shift: number | undefined;
  for (let at = 0; at < places.length; at++) {
    const { each, number } = places[at] as Place;
    const from = (written[at] as Place).number;
    if (each === 'copy' && number !== from) return undefined;
    if (each !== 'micro-batch') continue;
    if (number >= microBatches || from >= microBatches) return undefined;
    if (shift !== undefined && shift !== number - from) return undefined;
    shift = number - from;
  }
  return shift ?? 0;
}
