/** @file Writes the operations of a template, and declares the buffers that they name. */
import type {
  BufferDeclaration,
  Collective,
  Compute,
  KernelName,
  Operation,
  PartialState,
  Role,
  Scope,
  WhyRule,
} from '../../program/index.ts';
import type { Dim, DType } from '../../tensor/index.ts';
import { type ActivationDims, activationDims, type BlockContext } from '../context.ts';

/** Declarations of a program's activation buffers, by name. */
export type Declarations = Map<string, BufferDeclaration>;

export interface DeclareOptions {
  readonly role?: Role;
  readonly dtype?: DType;
  readonly partial?: readonly PartialState[];
  readonly scope?: Scope;
}

export interface Builder {
  readonly context: BlockContext;
  readonly dims: ActivationDims;
  readonly operations: Operation[];
  /** Declares a buffer and gives its name back; declaring it again is fine. */
  declare(name: string, dims: readonly Dim[], options?: DeclareOptions): string;
  /** A kernel; writes whose name ends with `+=` accumulate. */
  compute(
    kernel: KernelName,
    reads: readonly string[],
    writes: readonly string[],
    attributes?: Compute['attributes'],
    rule?: WhyRule,
  ): void;
  /** `from` in the type in which inputs of products are kept, in `to`; gives the name of what is kept. */
  narrow(from: string, to: string): string;
  /** Gathers a sequence shard; gives the name of what is whole, which is `from` where nothing is cut. */
  gather(from: string, to: string, rule?: WhyRule, width?: Dim): string;
  /** Ends the partial state that a row-parallel product leaves: scattered over the sequence or summed in place. */
  reduce(from: string, to: string, width?: Dim): string;
  /** All-reduce over tensor in place; nothing where tensor is 1. */
  allReduce(buffer: string, reduce: 'sum' | 'max', rule: WhyRule): void;
}

/** Factor of a product, where the model has one. */
export const scaled = (factor: number | undefined): { readonly factor: number } | undefined =>
  factor === undefined ? undefined : { factor };

export const overTensor: readonly PartialState[] = [{ over: 'tensor', reduce: 'sum' }];

export function createBuilder(context: BlockContext, declarations: Declarations, scope: Scope): Builder {
  const dims = activationDims(context);
  const operations: Operation[] = [];
  const split = context.tensor > 1;
  const declare: Builder['declare'] = (name, shape, options = {}) => {
    const partial = split ? options.partial : undefined;
    declarations.set(name, {
      name,
      role: options.role ?? 'activation',
      dtype: options.dtype ?? context.type,
      dims: shape,
      ...(partial && { partial }),
      scope: options.scope ?? scope,
    });
    return name;
  };
  const allReduce: Builder['allReduce'] = (buffer, reduce, rule) => {
    if (split) operations.push(overTensorLane('all-reduce', buffer, buffer, rule, { reduce }));
  };
  return {
    context,
    dims,
    operations,
    declare,
    allReduce,
    compute: (kernel, reads, writes, attributes, rule = 'model') => {
      operations.push(kernelCall(kernel, reads, writes, attributes, rule));
    },
    narrow: (from, to) => {
      const source = declarations.get(from);
      if (source === undefined || source.dtype === context.kept) return from;
      declare(to, source.dims, { dtype: context.kept });
      operations.push(kernelCall('cast', [from], [to], undefined, 'model'));
      return to;
    },
    gather: (from, to, rule = 'gather-sequence', width = dims.h) => {
      if (!context.sequenceParallel) return from;
      const dtype = declarations.get(from)?.dtype ?? context.type;
      declare(to, [dims.sWhole, dims.b, width], { role: 'exchange', dtype });
      operations.push(overTensorLane('all-gather', from, to, rule, { dim: 's' }));
      return to;
    },
    reduce: (from, to, width = dims.h) => {
      if (!context.sequenceParallel) {
        allReduce(from, 'sum', 'sum-partial');
        return from;
      }
      if (to !== 'y') declare(to, [dims.s, dims.b, width]);
      operations.push(overTensorLane('reduce-scatter', from, to, 'scatter-partial', { dim: 's', reduce: 'sum' }));
      return to;
    },
  };
}

const kernelCall = (
  kernel: KernelName,
  reads: readonly string[],
  writes: readonly string[],
  attributes: Compute['attributes'],
  rule: WhyRule,
): Compute => ({
  kind: 'compute',
  lane: 'compute',
  kernel,
  reads,
  writes: writes.map((name) =>
    name.endsWith('+=') ? { buffer: name.slice(0, -2), accumulate: true as const } : { buffer: name },
  ),
  ...(attributes && { attributes }),
  why: { rule },
});

const overTensorLane = (
  collective: Collective['collective'],
  from: string,
  to: string,
  rule: WhyRule,
  more: Pick<Collective, 'dim'> | Pick<Collective, 'reduce'> | Pick<Collective, 'dim' | 'reduce'>,
): Collective => ({
  kind: 'collective',
  lane: 'tensor',
  collective,
  axis: 'tensor',
  ...more,
  factor: 1,
  algorithm: 'ring',
  reads: [from],
  writes: [{ buffer: to }],
  why: { rule, axis: 'tensor' },
});
