/** @file A sample list: every template of a block context called once, so that its operations have operands to price.
 *
 * One embedding, one layer of each kind, one head, and back: forward all the way, then backward, each layer after its
 * recomputation; where backward is split, all input parts, then all weight parts. What a call costs does not depend on
 * where it stands, so the sample stands for all.
 */
import {
  type BlockContext,
  blockTemplates,
  contextGroupsOf,
  partsOf,
  sampleBuckets,
  templateOf,
} from '../compile/index.ts';
import type { SampleRange } from '../cost/index.ts';
import { createMesh } from '../mesh/index.ts';
import {
  type BufferDeclaration,
  type Call,
  degreesOf,
  type ExpandedOperation,
  expandList,
  lifetimesOf,
  type Program,
  type RankList,
} from '../program/index.ts';
import { bytesOf, type Degrees, type DType } from '../tensor/index.ts';

/** A pass through a block: forward, backward in one, its input part, its weight part. */
export type Pass = 'F' | 'B' | 'I' | 'W';

/** The embedding among the kinds of blocks; layers are 0, 1, ... */
export const EMBED = -1;
export const HEAD = -2;

export interface SampleSlice {
  readonly from: number;
  readonly to: number;
}

export interface Sample {
  readonly program: Program;
  readonly operations: readonly ExpandedOperation[];
  readonly kinds: number;
  /** The operations of a call: of the embedding, the head, or the layer of a kind. A backward or its input part begins with
   * the recomputation, where there is one. Undefined for what the sample does not call. */
  slice(pass: Pass, kind: number): SampleSlice | undefined;
  readonly ranges: readonly SampleRange[];
  readonly degrees: Degrees;
  /** Bytes of an activation at a block's border. */
  readonly borderBytes: number;
  /** Bytes of scalars that live throughout: where the loss is made, and on every stage. */
  readonly lossScalarBytes: number;
  readonly tailScalarBytes: number;
}

export function sampleOf(context: BlockContext, gradientType: DType): Sample {
  const { kinds } = context.kinds;
  const data = fewestData(context);
  const grid = context.grid && { ...context.grid, expertData: expertDataWith(context, data) };
  const alone: BlockContext = {
    ...context,
    data,
    ...(grid && { grid }),
    kinds: { kinds, kindOf: kinds.map((_, index) => index) },
    model: { ...context.model, layers: kinds.map(({ layer }) => layer) },
  };
  const { templates, buffers, scalars } = blockTemplates(alone);
  const buckets = sampleBuckets(alone);
  const calls = sampleCalls(context);
  const list: RankList = {
    name: 'P0',
    pipeline: 0,
    buckets,
    units: [],
    buffers: buckets.flatMap((bucket) => containersOf(bucket.name, bucket.elements, context.type, gradientType)),
    items: calls.map(({ item }, index) => ({ ...item, id: index + 1 })),
  };
  const program: Program = {
    schema: 'meshwright.program/1',
    name: 'sample',
    mesh: createMesh({ tensor: context.tensor, context: context.context, data, ...grid }),
    groups: contextGroupsOf(alone),
    layers: kinds.length,
    microBatches: 1,
    lossScale: 1,
    optimizer: 'adamw',
    buffers: [...buffers, ...scalars],
    templates,
    lists: [list],
  };
  const expanded = expandList(program, list);
  const degrees = degreesOf(program);
  const lifetimes = lifetimesOf(expanded, degrees);
  const ranges = lifetimes.ranges.map(({ instance, first, last, bytes }) => ({
    instance: instance.name,
    first,
    last,
    bytes,
  }));
  return {
    program,
    operations: expanded.operations,
    kinds: kinds.length,
    slice: (pass, kind) => sliceOf(expanded.operations, calls, pass, kind),
    ranges,
    degrees,
    borderBytes: ranges.find((range) => range.instance === 'x0[0]')?.bytes ?? 0,
    lossScalarBytes: lifetimes.residentBytes,
    tailScalarBytes: scalars.length * bytesOf('fp32') - lifetimes.residentBytes,
  };
}

/** A call knows nothing of its replicas: one data rank is enough, or as many as fill one expert grid. */
function fewestData(context: BlockContext): number {
  for (let data = 1; ; data++) if (Number.isInteger(expertDataWith(context, data))) return data;
}

const expertDataWith = ({ tensor, context, grid }: BlockContext, data: number): number =>
  grid === undefined ? 1 : (tensor * context * data) / (grid.expert * grid.expertTensor);

/** A line of the sample, and the pass that it belongs to. */
interface SampleCall {
  readonly pass: Pass;
  readonly kind: number;
  readonly item: Omit<Call, 'id'>;
}

function sliceOf(
  operations: readonly ExpandedOperation[],
  calls: readonly SampleCall[],
  pass: Pass,
  kind: number,
): SampleSlice | undefined {
  const isOf = ({ item }: ExpandedOperation): boolean => {
    const call = calls[item - 1];
    return call?.pass === pass && call.kind === kind;
  };
  const from = operations.findIndex(isOf);
  return from < 0 ? undefined : { from, to: operations.findLastIndex(isOf) + 1 };
}

/** A context that takes either backward has two samples, so here it is one or the other. */
function sampleCalls(context: BlockContext): readonly SampleCall[] {
  const { kinds } = context.kinds;
  const call = (pass: Pass, kind: number, template: string, block: number, again = false): SampleCall => ({
    pass,
    kind,
    item: {
      kind: 'call',
      template,
      first: block,
      last: block,
      microBatch: 0,
      ...(again && { again }),
      needs: [],
    },
  });
  const embed = (pass: Pass): SampleCall => call(pass, EMBED, `${pass}.embed`, -1);
  const head = (pass: Pass): SampleCall => call(pass, HEAD, `${pass}.head`, kinds.length);
  const layers = (pass: Pass): readonly SampleCall[] =>
    kinds.flatMap((kind, block) => [
      ...(context.recompute === 'full' && (pass === 'B' || pass === 'I')
        ? [call(pass, block, templateOf('F.layer', kind), block, true)]
        : []),
      call(pass, block, templateOf(`${pass}.layer`, kind), block),
    ]);
  const up = (pass: Pass): readonly SampleCall[] =>
    kinds.flatMap((_, index) => {
      const block = kinds.length - 1 - index;
      return layers(pass).filter(({ kind }) => kind === block);
    });
  const forward = [embed('F'), ...layers('F'), head('F')];
  if (context.backward !== 'split') return [...forward, head('B'), ...up('B'), embed('B')];
  const weightOfHead = partsOf('head', context).includes('W') ? [head('W')] : [];
  return [...forward, head('I'), ...up('I'), ...weightOfHead, ...up('W'), embed('W')];
}

/** Weights and gradients that are not resident, so that their first and last use show. */
function containersOf(bucket: string, size: number, type: DType, gradient: DType): readonly BufferDeclaration[] {
  const flat = { dims: [{ label: 'n', size }], scope: 'period' as const, bucket };
  return [
    { name: `W.${bucket}`, role: 'weight', dtype: type, ...flat },
    { name: `G.${bucket}`, role: 'gradient', dtype: gradient, ...flat },
  ];
}
