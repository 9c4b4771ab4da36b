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
import type { DType } from '../tensor/index.ts';
import { borderBytesOf, type Sample, type SampleBuckets, sampleOf } from './sample.ts';

/** The sample of a context of the job. */
export type SampleBook = (context: BlockContext, gradientType: DType) => Sample;

/** Keeps the samples of one tensor degree at a time: a search goes through them one after the other, and they are large. */
export function sampleBook(): SampleBook {
  const bucketsOf = bucketBook();
  const known = new Map<string, Sample>();
  let tensor = 0;
  return (context, gradientType) => {
    if (context.tensor !== tensor) known.clear();
    tensor = context.tensor;
    const { sequenceParallel, grid, keepGathered, recompute, backward, lossChunks, contextKind } = context;
    const cuts = [sequenceParallel, grid?.expert, grid?.expertTensor, context.context, contextKind].join();
    const name = [cuts, keepGathered, recompute, backward, lossChunks, gradientType].join();
    const one = known.get(name) ?? sampleOf({ ...context, microBatch: 1 }, gradientType, bucketsOf);
    known.set(name, one);
    return context.microBatch === 1 ? one : ofMicroBatch(one, context.microBatch);
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

/** A sample of one sequence as that of a micro-batch of several. */
function ofMicroBatch(sample: Sample, microBatch: number): Sample {
  const { degrees } = sample;
  const declarations = new Map<BufferDeclaration, BufferDeclaration>();
  const declarationOf = (declaration: BufferDeclaration): BufferDeclaration => {
    const known = declarations.get(declaration);
    if (known) return known;
    const dims = timesMicroBatch(declaration.dims, microBatch);
    const made = dims === declaration.dims ? declaration : { ...declaration, dims };
    declarations.set(declaration, made);
    return made;
  };
  const operands = new Map<Operand, Operand>();
  const operandOf = (operand: Operand): Operand => {
    const known = operands.get(operand);
    if (known) return known;
    const { instance } = operand;
    const declaration = declarationOf(instance.declaration);
    const made =
      declaration === instance.declaration
        ? operand
        : {
            ...operand,
            instance: { name: instance.name, declaration },
            dims: timesMicroBatch(operand.dims, microBatch),
          };
    operands.set(operand, made);
    return made;
  };
  const ranges = sample.ranges.map((range, index) => {
    const declaration = declarationOf(sample.owners[index] as BufferDeclaration);
    const instance = { name: range.instance, declaration };
    return { ...range, bytes: bufferBytes({ instance, dims: declaration.dims }, degrees) };
  });
  const operationsOf = (): readonly ExpandedOperation[] =>
    sample.operations.map((each) => ({
      ...each,
      reads: each.reads.map((read) => read && operandOf(read)),
      writes: each.writes.map(({ operand, accumulate }) => ({ operand: operandOf(operand), accumulate })),
    }));
  let operations: readonly ExpandedOperation[] | undefined;
  return {
    ...sample,
    /** Most blocks are only asked for their bytes. */
    get operations() {
      operations ??= operationsOf();
      return operations;
    },
    ranges,
    owners: sample.owners.map(declarationOf),
    borderBytes: borderBytesOf(ranges),
  };
}
