/** @file What the operations of samples cost. Contexts of one job differ in few of their operations, so each that differs in
 * what a price sees is priced once for each micro-batch.
 */
import type { Prices } from '../cost/index.ts';
import { type ExpandedOperation, type Group, type Work, workOf } from '../program/index.ts';
import { launchesOf, secondsOf } from '../sim/index.ts';
import type { Degrees, Dim } from '../tensor/index.ts';
import type { Sample } from './sample.ts';

/** What the operations of a sample cost, in their order: seconds, those of the host to issue them, and FLOPs of products and
 * attention. */
export interface SampleCost {
  readonly seconds: Float64Array;
  readonly launches: Float64Array;
  readonly productFlops: Float64Array;
}

interface OperationCost {
  readonly seconds: number;
  readonly launch: number;
  readonly productFlops: number;
}

/** Costs by operation (see {@link alikeBook}) and micro-batch. Work costs the same under all meshes of a cluster with as many
 * tensor ranks, an exchange under those that place its group alike. */
export interface CostBook {
  readonly work: Map<number, OperationCost>;
  readonly exchanges: Map<number, OperationCost>;
}

/** The cost of a sample; what `book` knows is not worked out again. */
export function sampleCost(sample: Sample, prices: Prices, book: CostBook): SampleCost {
  const { program, degrees, isCompute, microBatch, operationAt } = sample;
  const alike = sample.alike();
  const cost = {
    seconds: new Float64Array(alike.length),
    launches: new Float64Array(alike.length),
    productFlops: new Float64Array(alike.length),
  };
  let work: Work | undefined;
  const workOnce = (each: ExpandedOperation): Work => {
    work ??= workOf(each, degrees);
    return work;
  };
  const seconds = secondsOf(program, prices, workOnce);
  const launch = launchesOf(prices, workOnce);
  const costAt = (at: number): OperationCost => {
    const each = operationAt(at);
    work = undefined;
    const made = { seconds: seconds(each), launch: launch(each) };
    return { ...made, productFlops: work === undefined ? 0 : flopsOf(work) };
  };
  for (let at = 0; at < alike.length; at++) {
    const known = isCompute[at] === 1 ? book.work : book.exchanges;
    const key = (alike[at] as number) * LARGEST_MICRO_BATCH + microBatch;
    let own = known.get(key);
    if (own === undefined) {
      own = costAt(at);
      known.set(key, own);
    }
    cost.seconds[at] = own.seconds;
    cost.launches[at] = own.launch;
    cost.productFlops[at] = own.productFlops;
  }
  return cost;
}

/** More sequences than a micro-batch has. */
const LARGEST_MICRO_BATCH = 2 ** 20;

const flopsOf = (work: Work): number => (work.kind === 'memory' ? 0 : work.flops);

/** Numbers operations of samples of one sequence: equal numbers cost the same, whatever the micro-batch. */
export type AlikeBook = (sample: Pick<Sample, 'program' | 'operations' | 'degrees'>) => Uint32Array;

export function alikeBook(): AlikeBook {
  const numbers = new Map<string, number>();
  return ({ program, operations, degrees }) => {
    const dimsText = textOfDims(degrees);
    const numberOf = (each: ExpandedOperation): number => {
      const text = textOf(each, dimsText, degrees, program.groups);
      const number = numbers.get(text) ?? numbers.size;
      numbers.set(text, number);
      return number;
    };
    return Uint32Array.from(operations, numberOf);
  };
}

/** All that a price can see of an operation, in words. */
function textOf(
  { operation, reads, writes }: ExpandedOperation,
  dimsText: (dims: readonly Dim[]) => string,
  degrees: Degrees,
  groups: readonly Group[],
): string {
  let text = `${operation.kind} ${operation.lane}`;
  if (operation.kind === 'compute') {
    text += ` ${operation.kernel} ${operation.attributes === undefined ? '' : JSON.stringify(operation.attributes)}`;
  } else if (operation.kind === 'collective') {
    const group = groups.find(({ name }) => name === operation.axis);
    const over = group === undefined ? operation.axis : JSON.stringify(group);
    text += ` ${operation.collective} ${operation.algorithm} ${operation.inner ?? ''} ${over} ${degrees(operation.axis)}`;
  }
  for (const read of reads) {
    text += read === undefined ? ' -' : ` ${read.instance.declaration.dtype}${dimsText(read.dims)}`;
  }
  text += ' >';
  for (const { operand, accumulate } of writes) {
    text += ` ${accumulate ? '+' : ''}${operand.instance.declaration.dtype}${dimsText(operand.dims)}`;
  }
  return text;
}

/** Dims with the ranks that cut them. */
function textOfDims(degrees: Degrees): (dims: readonly Dim[]) => string {
  const known = new Map<readonly Dim[], string>();
  const cutText = (cut: readonly string[]): string => {
    let ways = 1;
    for (const axis of cut) ways *= degrees(axis);
    return ways === 1 ? '' : `/${ways}${cut.includes('expert') ? `e${degrees('expert')}` : ''}`;
  };
  const dimText = ({ label, size, cut, parts, routed }: Dim): string =>
    `${label === 'b' ? 'b' : ''}${size}${cut === undefined ? '' : cutText(cut)}${parts === undefined ? '' : `(${parts})`}${
      routed === undefined ? '' : `r${routed.experts}x${routed.load}`
    }`;
  return (dims) => {
    const found = known.get(dims);
    if (found !== undefined) return found;
    const made = `[${dims.map(dimText).join(' ')}]`;
    known.set(dims, made);
    return made;
  };
}
