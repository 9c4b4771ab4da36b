/** @file A sample list: every template of a block context called once, so that its operations have operands to price.
 *
 * One embedding, one layer, one head, and back: embed, layer, head forward, then head, layer (after its recomputation)
 * and embed backward. What a call costs does not depend on where it stands, so the sample stands for all.
 */
import { type BlockContext, blockTemplates, sampleBuckets } from '../compile/index.ts';
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

/** The calls of the sample, in order; `layerBackward` covers a recomputation where there is one. */
export type SampleCall =
  | 'embedForward'
  | 'layerForward'
  | 'headForward'
  | 'headBackward'
  | 'layerBackward'
  | 'embedBackward';

export interface SampleSlice {
  readonly from: number;
  readonly to: number;
}

export interface Sample {
  readonly program: Program;
  readonly operations: readonly ExpandedOperation[];
  readonly slices: Readonly<Record<SampleCall, SampleSlice>>;
  readonly ranges: readonly SampleRange[];
  readonly degrees: Degrees;
  /** Bytes of an activation at a block's border. */
  readonly borderBytes: number;
  /** Bytes of scalars that live throughout: where the loss is made, and on every stage. */
  readonly lossScalarBytes: number;
  readonly tailScalarBytes: number;
}

export function sampleOf(context: BlockContext, gradientType: DType): Sample {
  const alone: BlockContext = { ...context, data: 1, model: { ...context.model, layers: [context.layer] } };
  const { templates, buffers, scalars } = blockTemplates(alone);
  const buckets = sampleBuckets(alone);
  const again = context.recompute === 'full';
  const list: RankList = {
    name: 'P0',
    pipeline: 0,
    buckets,
    units: [],
    buffers: buckets.flatMap((bucket) => containersOf(bucket.name, bucket.elements, context.type, gradientType)),
    items: sampleItems(again),
  };
  const program: Program = {
    schema: 'meshwright.program/1',
    name: 'sample',
    mesh: createMesh({ tensor: context.tensor }),
    groups: [],
    layers: 1,
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
  const slice = (first: number, last = first): SampleSlice => ({
    from: expanded.operations.findIndex((each) => each.item === first),
    to: expanded.operations.findLastIndex((each) => each.item === last) + 1,
  });
  const shift = again ? 1 : 0;
  const ranges = lifetimes.ranges.map(({ instance, first, last, bytes }) => ({
    instance: instance.name,
    first,
    last,
    bytes,
  }));
  return {
    program,
    operations: expanded.operations,
    slices: {
      embedForward: slice(1),
      layerForward: slice(2),
      headForward: slice(3),
      headBackward: slice(4),
      layerBackward: slice(5, 5 + shift),
      embedBackward: slice(6 + shift),
    },
    ranges,
    degrees,
    borderBytes: ranges.find((range) => range.instance === 'x0[0]')?.bytes ?? 0,
    lossScalarBytes: lifetimes.residentBytes,
    tailScalarBytes: scalars.length * bytesOf('fp32') - lifetimes.residentBytes,
  };
}

function sampleItems(again: boolean): readonly Item[] {
  const call = (template: string, block: number, more: Partial<Call> = {}): Omit<Call, 'id'> => ({
    kind: 'call',
    template,
    first: block,
    last: block,
    microBatch: 0,
    needs: [],
    ...more,
  });
  return [
    call('F.embed', -1),
    call('F.layer', 0),
    call('F.head', 1),
    call('B.head', 1),
    ...(again ? [call('F.layer', 0, { again: true })] : []),
    call('B.layer', 0),
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
