/** @file Memory of every stage over the operations of a step, and what is alive at the peak. */
import { memoryOf } from '@meshwright/core/memory';
import {
  degreesOf,
  type ExpandedList,
  expandList,
  lifetimesOf,
  type Program,
  renderWhy,
} from '@meshwright/core/program';

/** Memory of one stage over the operations of a step. */
export interface StageMemory {
  readonly stage: number;
  /** Bytes alive, in the order of the program; the largest of each stretch. */
  readonly over: Float64Array;
  /** Share of the operations before the peak. */
  readonly peakAt: number;
  readonly peakBytes: number;
  readonly residentBytes: number;
  /** What the GPU does at the peak. */
  readonly peakWhy: string;
  /** Largest first, at most {@link LISTED}. */
  readonly alive: readonly { readonly name: string; readonly role: string; readonly bytes: number }[];
  readonly aliveCount: number;
}

const POINTS = 480;
const LISTED = 24;

/** All stages of a program. */
export function memoryOverStep(program: Program): readonly StageMemory[] {
  const lists = program.lists.map((list) => expandList(program, list));
  const memory = memoryOf(program, lists);
  const degrees = degreesOf(program);
  return lists.map((list, index): StageMemory => {
    const { live } = lifetimesOf(list, degrees);
    const own = memory.lists[index];
    const peak = own?.peakIndex ?? 0;
    return {
      stage: list.list.pipeline,
      over: thinned(live),
      peakAt: peak / Math.max(1, live.length - 1),
      peakBytes: own?.peakBytes ?? 0,
      residentBytes: own?.residentBytes ?? 0,
      peakWhy: whyOf(list, peak, program.layers),
      alive: (own?.alive ?? []).slice(0, LISTED).map(({ instance, role, bytes }) => ({ name: instance, role, bytes })),
      aliveCount: own?.alive.length ?? 0,
    };
  });
}

function thinned(live: Float64Array): Float64Array {
  if (live.length <= POINTS) return Float64Array.from(live);
  const thin = new Float64Array(POINTS);
  for (let index = 0; index < live.length; index++) {
    const place = Math.floor((index / live.length) * POINTS);
    thin[place] = Math.max(thin[place] ?? 0, live[index] ?? 0);
  }
  return thin;
}

/** The reason of an operation, in the words of the program. */
export const whyOf = (list: ExpandedList, index: number, layers: number): string => {
  const operation = list.operations[index];
  if (!operation) return '';
  const { block, microBatch } = operation;
  return renderWhy(operation.operation.why, {
    operation: operation.operation,
    layers,
    ...(block !== undefined && { block }),
    ...(microBatch !== undefined && { microBatch }),
  });
};
