/** @file Lines of a list that are no calls, as turns of one operation. */
import type { ListOperation } from '../../types.ts';
import type { LineForm } from '../book.ts';
import type { Place } from '../memories.ts';
import type { TurnRows } from './rows.ts';

/** The row that lines of one sample repeat. */
interface LineRow {
  readonly row: number;
  readonly places: readonly Place[];
}

/** Lines of a list as they come. */
export interface Lines {
  add(item: ListOperation, form: LineForm): void;
}

/** `microBatches`: memory of so many has numbers in a row; what lies elsewhere is written out by itself. */
export function createLines(rows: TurnRows, microBatches: number): Lines {
  const bySample = new Map<number, LineRow>();
  return {
    add: (item, { sample, places }) => {
      const known = bySample.get(sample);
      const shift = known === undefined ? undefined : shiftOf(known.places, places, microBatches);
      if (known !== undefined && shift !== undefined) {
        rows.turn(0, known.row, shift, 1);
        return;
      }
      const row = rows.write(item, 1);
      bySample.set(sample, { row, places });
      rows.turn(0, row, 0, 1);
    },
  };
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
