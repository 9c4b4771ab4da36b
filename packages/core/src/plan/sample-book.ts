/** @file Samples of one job: contexts that differ in the micro-batch only have the same operations, so one is written and the
 * others are that one with larger dims.
 */
import { type BlockContext, sampleBuckets, timesMicroBatch } from '../compile/index.ts';
import { parameterBook } from '../model/index.ts';
import {
  type Bucket,
  type BufferDeclaration,
  bufferBytes,
  type ExpandedOperation,
  type Operand,
} from '../program/index.ts';
import type { Dim, DType } from '../tensor/index.ts';
import { isBorder, type Sample, type SampleBuckets, sampleOf } from './sample.ts';
import { type AlikeBook, alikeBook } from './sample-cost.ts';

/** The sample of a context of the job. */
export type SampleBook = (context: BlockContext, gradientType: DType) => Sample;

/** Keeps the samples of one tensor degree at a time: a search goes through them one after the other, and they are large. */
export function sampleBook(alikeOf: AlikeBook = alikeBook()): SampleBook {
  const bucketsOf = bucketBook();
  const known = new Map<string, OneSequence>();
  let tensor = 0;
  return (context, gradientType) => {
    if (context.tensor !== tensor) known.clear();
    tensor = context.tensor;
    const { sequenceParallel, grid, keepGathered, recompute, backward, lossChunks, contextKind } = context;
    const cuts = [sequenceParallel, grid?.expert, grid?.expertTensor, context.context, contextKind].join();
    const name = [cuts, keepGathered, recompute, backward, lossChunks, gradientType].join();
    const one =
      known.get(name) ?? oneSequence(sampleOf({ ...context, microBatch: 1 }, gradientType, bucketsOf, alikeOf));
    known.set(name, one);
    return context.microBatch === 1 ? one.sample : ofMicroBatch(one, context.microBatch);
  };
}

/** {@link sampleBuckets} of all contexts of one job: those that cut parameters alike share theirs. */
function bucketBook(): SampleBuckets {
  const known = new Map<string, readonly Bucket[]>();
  let parameters: ReturnType<typeof parameterBook> | undefined;
  return (context) => {
    const { tensor, sequenceParallel, grid } = context;
    const name = `${tensor} ${sequenceParallel} ${grid?.expert} ${grid?.expertTensor}`;
    parameters ??= parameterBook(context.model);
    const found = known.get(name) ?? sampleBuckets(context, parameters);
    known.set(name, found);
    return found;
  };
}

/** A sample of one sequence, and how its ranges grow with the micro-batch. */
interface OneSequence {
  readonly sample: Sample;
  readonly growths: readonly Growth[];
}

const oneSequence = (sample: Sample): OneSequence => ({
  sample,
  growths: sample.owners.map(({ dims }) => growthOf(dims)),
});

/** A sample of one sequence as that of a micro-batch of several. Most are asked for their bytes only. */
function ofMicroBatch(one: OneSequence, microBatch: number): Sample {
  const { sample } = one;
  const rangeBytes = bytesOfRanges(one, microBatch);
  let operations: readonly ExpandedOperation[] | undefined;
  const operationAt = (index: number): ExpandedOperation =>
    timesOperation(sample.operations[index] as ExpandedOperation, microBatch);
  return {
    ...sample,
    microBatch,
    get operations() {
      operations ??= sample.operations.map((_, index) => operationAt(index));
      return operations;
    },
    operationAt,
    get ranges() {
      return sample.ranges.map((range, index) => ({ ...range, bytes: rangeBytes[index] as number }));
    },
    rangeBytes,
    get owners() {
      return sample.owners.map((owner) => timesDeclaration(owner, microBatch));
    },
    borderBytes: rangeBytes[sample.ranges.findIndex(isBorder)] ?? 0,
  };
}

function bytesOfRanges({ sample, growths }: OneSequence, microBatch: number): Float64Array {
  const { owners, degrees } = sample;
  const bytes = sample.rangeBytes.slice();
  for (let index = 0; index < growths.length; index++) {
    const growth = growths[index];
    if (growth === 'times') bytes[index] = (bytes[index] as number) * microBatch;
    else if (growth === 'rows') {
      const declaration = timesDeclaration(owners[index] as BufferDeclaration, microBatch);
      bytes[index] = bufferBytes({ instance: { name: '', declaration }, dims: declaration.dims }, degrees);
    }
  }
  return bytes;
}

/** How elements follow the micro-batch: not, in proportion, or as rows of experts do, which are rounded up. */
type Growth = 'none' | 'times' | 'rows';

function growthOf(dims: readonly Dim[]): Growth {
  if (timesMicroBatch(dims, 1) === dims) return 'none';
  return dims.some(({ label, cut, routed }) => routed !== undefined || (label === 'b' && cut !== undefined))
    ? 'rows'
    : 'times';
}

function timesDeclaration(declaration: BufferDeclaration, microBatch: number): BufferDeclaration {
  const dims = timesMicroBatch(declaration.dims, microBatch);
  return dims === declaration.dims ? declaration : { ...declaration, dims };
}

function timesOperation(operation: ExpandedOperation, microBatch: number): ExpandedOperation {
  const timesOperand = (operand: Operand): Operand => {
    const { name, declaration } = operand.instance;
    const made = timesDeclaration(declaration, microBatch);
    if (made === declaration) return operand;
    const instance = { name, declaration: made };
    return { ...operand, instance, dims: timesMicroBatch(operand.dims, microBatch) };
  };
  return {
    ...operation,
    reads: operation.reads.map((read) => read && timesOperand(read)),
    writes: operation.writes.map(({ operand, accumulate }) => ({ operand: timesOperand(operand), accumulate })),
  };
}
