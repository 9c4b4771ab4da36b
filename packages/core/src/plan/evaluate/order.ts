/** @file The order in which the evaluation visits the invocations of all stages, with the rounds of its steady state.
 *
 * A schedule repeats itself once the pipeline is full. The order is written for a few micro-batches only; each loop marks
 * one round of the steady state, and the walk repeats it (or, once clocks advance evenly, skips ahead) until the real
 * number of micro-batches is reached.
 */
import { assertInvariant } from '../../errors/index.ts';
import {
  chunkOf,
  forwardCode,
  isBackward,
  microBatchOf,
  producerOf,
  type ScheduleShape,
  scheduleCodes,
} from '../../schedules/index.ts';

/** One round of the steady state: visits [from, to) of the order. */
export interface Loop {
  readonly from: number;
  readonly to: number;
}

export interface WalkOrder {
  /** Micro-batches that the order is written for. */
  readonly written: number;
  /** Micro-batches of one round. */
  readonly stride: number;
  /** How often each loop runs beyond its first time. */
  readonly extra: number;
  readonly loops: readonly Loop[];
  /** Codes of each stage for the written micro-batches. */
  readonly codes: readonly Int32Array[];
  /** Stage of each visit; a stage's visits follow its codes. */
  readonly visits: Uint16Array;
}

/** The order for a shape. Schedules without a steady state in reach are written in full. */
export function walkOrder(shape: ScheduleShape): WalkOrder {
  const stride = shape.chunks > 1 ? shape.stages : 1;
  const short = shape.chunks > 1 ? 6 * shape.stages : shape.stages + 6;
  if (shape.microBatches > short) {
    const written = short;
    const order = writeOrder({ ...shape, microBatches: written });
    const loops = findLoops(order, { ...shape, microBatches: written }, stride);
    const wanted = shape.schedule === 'gpipe' ? 2 : 1;
    if (loops.length === wanted) {
      return { ...order, written, stride, extra: (shape.microBatches - written) / stride, loops };
    }
  }
  return { ...writeOrder(shape), written: shape.microBatches, stride, extra: 0, loops: [] };
}

interface Written {
  readonly codes: readonly Int32Array[];
  readonly visits: Uint16Array;
  /** Visits done when the driving stage has done its first, second ... invocation. */
  readonly cuts: readonly { readonly at: number; readonly cursors: Int32Array; readonly driver: number }[];
}

/** Visits what the last stage needs, in its order; GPipe's backwards are driven by the first stage. Every prefix is
 * closed: it holds all that it waits for.
 */
function writeOrder(shape: ScheduleShape): Written {
  const { stages, microBatches, chunks } = shape;
  const codes = Array.from({ length: stages }, (_, stage) => scheduleCodes(shape, stage));
  const slots = 2 * chunks * microBatches;
  const slotOf = (code: number): number => (microBatchOf(code) * chunks + chunkOf(code)) * 2 + (code & 1);
  const positions = codes.map((list) => {
    const where = new Int32Array(slots);
    list.forEach((code, index) => {
      where[slotOf(code)] = index;
    });
    return where;
  });
  const visits = new Uint16Array(stages * slots);
  const cursors = new Int32Array(stages);
  let count = 0;
  const ensure = (stage: number, position: number): void => {
    const list = codes[stage] as Int32Array;
    while ((cursors[stage] as number) <= position) {
      const code = list[cursors[stage] as number] as number;
      const from = producerOf(shape, stage, code);
      if (from) ensure(from.stage, (positions[from.stage] as Int32Array)[slotOf(from.code)] as number);
      visits[count++] = stage;
      cursors[stage] = (cursors[stage] as number) + 1;
    }
  };
  const cuts: { at: number; cursors: Int32Array; driver: number }[] = [];
  const drive = (driver: number, from: number, to: number): void => {
    for (let position = from; position < to; position++) {
      ensure(driver, position);
      cuts.push({ at: count, cursors: cursors.slice(), driver });
    }
  };
  if (shape.schedule === 'gpipe') drive(stages - 1, 0, microBatches);
  else drive(stages - 1, 0, slots);
  drive(0, shape.schedule === 'gpipe' ? microBatches : slots, slots);
  for (let stage = 0; stage < stages; stage++) ensure(stage, slots - 1);
  assertInvariant(count === visits.length, () => `visited ${count} of ${visits.length} invocations`);
  return { codes, visits, cuts };
}

/** Two cuts one round apart such that every stage does the same work in this round and in those that come after it, as
 * far as gathers look ahead: three short rounds, or one of an interleaved schedule.
 */
function findLoops(order: Written, shape: ScheduleShape, stride: number): readonly Loop[] {
  const loops: Loop[] = [];
  for (const backward of shape.schedule === 'gpipe' ? [false, true] : [undefined]) {
    const found = findLoop(order, shape, stride, backward);
    if (found) loops.push(found);
  }
  return loops;
}

function findLoop(
  { codes, cuts }: Written,
  shape: ScheduleShape,
  stride: number,
  backward: boolean | undefined,
): Loop | undefined {
  const round = backward === undefined ? 2 * shape.chunks * stride : 1;
  const driver = backward ? 0 : shape.stages - 1;
  const mine = cuts.filter((cut) => cut.driver === driver);
  const ahead = shape.chunks > 1 ? 1 : 3;
  for (let index = 0; index + round < mine.length; index++) {
    const [first, second] = [mine[index], mine[index + round]];
    if (!first || !second) break;
    const repeats = codes.every((list, stage) => {
      const from = first.cursors[stage] as number;
      const to = second.cursors[stage] as number;
      if (to - from !== round) return false;
      for (let position = from; position < to; position++) {
        const code = list[position] as number;
        if (backward !== undefined && isBackward(code) !== backward) return false;
        // Micro-batch 0 pays for gathers and the last one for reductions: neither is steady.
        if (microBatchOf(code) === 0) return false;
        for (let later = 1; later <= ahead; later++) {
          if (list[position + later * round] !== code + forwardCode(0, later * stride)) return false;
        }
        if (microBatchOf(code) + stride >= shape.microBatches - 1) return false;
      }
      return true;
    });
    if (repeats) return { from: first.at, to: second.at };
  }
  return undefined;
}
