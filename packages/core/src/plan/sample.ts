/** @file A sample list: every template of a block context called once, so that its operations have operands to price.
 *
 * One embedding, one layer of each kind, one head, and back: forward all the way, then backward, each layer after its
 * recomputation. What a call costs does not depend on where it stands, so the sample stands for all.
 */
import { type BlockContext, blockTemplates, contextGroupsOf, sampleBuckets, templateOf } from '../compile/index.ts';
import type { SampleRange } from '../cost/index.ts';
import { createMesh } from '../mesh/index.ts';
import {
  type BufferDeclaration,
  type Call,
  degreesOf,
  type ExpandedOperation,
  expandList,
  type Item,
  lifetimesOf,
  type Program,
  type RankList,
} from '../program/index.ts';
import { bytesOf, type Degrees, type DType } from '../tensor/index.ts';

/** Calls of the two ends of a model. */
export type EndCall = 'embedForward' | 'headForward' | 'headBackward' | 'embedBackward';

export interface SampleSlice {
  readonly from: number;
  readonly to: number;
}

/** Both calls of a layer; `backward` covers a recomputation where there is one. */
export interface LayerSlices {
  readonly forward: SampleSlice;
  readonly backward: SampleSlice;
}

export interface Sample {
  readonly program: Program;
  readonly operations: readonly ExpandedOperation[];
  readonly ends: Readonly<Record<EndCall, SampleSlice>>;
  /** Kind by kind; the sample has one layer of each, in this order. */
  readonly layers: readonly LayerSlices[];
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
  const again = context.recompute === 'full';
  const list: RankList = {
    name: 'P0',
    pipeline: 0,
    buckets,
    units: [],
    buffers: buckets.flatMap((bucket) => containersOf(bucket.name, bucket.elements, context.type, gradientType)),
    items: sampleItems(context, again),
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
    ...slicesOf(expanded.operations, kinds.length, again),
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

/** The operations of each call; the items are those of {@link sampleItems}. */
function slicesOf(
  operations: readonly ExpandedOperation[],
  kinds: number,
  again: boolean,
): Pick<Sample, 'ends' | 'layers'> {
  const perBackward = again ? 2 : 1;
  const slice = (first: number, last = first): SampleSlice => ({
    from: operations.findIndex((each) => each.item === first),
    to: operations.findLastIndex((each) => each.item === last) + 1,
  });
  return {
    ends: {
      embedForward: slice(1),
      headForward: slice(2 + kinds),
      headBackward: slice(3 + kinds),
      embedBackward: slice(4 + kinds + kinds * perBackward),
    },
    layers: Array.from({ length: kinds }, (_, kind): LayerSlices => {
      const first = 4 + kinds + (kinds - 1 - kind) * perBackward;
      return { forward: slice(2 + kind), backward: slice(first, first + perBackward - 1) };
    }),
  };
}

function sampleItems({ kinds: { kinds } }: BlockContext, again: boolean): readonly Item[] {
  const call = (template: string, block: number, more: Partial<Call> = {}): Omit<Call, 'id'> => ({
    kind: 'call',
    template,
    first: block,
    last: block,
    microBatch: 0,
    needs: [],
    ...more,
  });
  const backwards = kinds.map((kind, block) => [
    ...(again ? [call(templateOf('F.layer', kind), block, { again: true })] : []),
    call(templateOf('B.layer', kind), block),
  ]);
  return [
    call('F.embed', -1),
    ...kinds.map((kind, block) => call(templateOf('F.layer', kind), block)),
    call('F.head', kinds.length),
    call('B.head', kinds.length),
    ...backwards.reverse().flat(),
    call('B.embed', -1),
  ].map((item, index) => ({ ...item, id: index + 1 }));
}

/** Weights and gradients that are not resident, so that their first and last use show. */
function containersOf(bucket: string, size: number, type: DType, gradient: DType): readonly BufferDeclaration[] {
  const flat = { dims: [{ label: 'n', size }], scope: 'period' as const, bucket };
  return [
    { name: `W.${bucket}`, role: 'weight', dtype: type, ...flat },
    { name: `G.${bucket}`, role: 'gradient', dtype: gradient, ...flat },
  ];
}
