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
import {
  type Borders,
  type MemoryShape,
  memoryShape,
  type SampleRange,
  type TimeShape,
  timeShape,
} from '../cost/index.ts';
import { createMesh } from '../mesh/index.ts';
import {
  type Bucket,
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
import { type AlikeBook, alikeBook } from './sample-cost.ts';

/** A pass through a block: forward, backward in one, its input part, its weight part. */
export type Pass = 'F' | 'B' | 'I' | 'W';

/** The embedding among the kinds of blocks; layers are 0, 1, ... */
export const EMBED = -1;
export const HEAD = -2;

/** A call of a block: its operations [from, to), and what waits for what in it. A backward or its input part begins with
 * the recomputation, where there is one. */
export interface SampleCall {
  readonly pass: Pass;
  /** Of the embedding, the head, or the layer of a kind. */
  readonly kind: number;
  readonly from: number;
  readonly to: number;
  readonly time: TimeShape;
  readonly memory: MemoryShape;
  readonly readsWeights: boolean;
}

export interface Sample {
  readonly program: Program;
  readonly microBatch: number;
  readonly operations: readonly ExpandedOperation[];
  /** One of them. */
  readonly operationAt: (index: number) => ExpandedOperation;
  /** By operation: equal numbers cost the same (see ./sample-cost.ts). Worked out when somebody asks what they cost. */
  readonly alike: () => Uint32Array;
  readonly isCompute: Uint8Array;
  readonly kinds: number;
  readonly calls: readonly SampleCall[];
  readonly ranges: readonly SampleRange[];
  /** Of each range. */
  readonly rangeBytes: Float64Array;
  /** Of each range, what lies in it. */
  readonly owners: readonly BufferDeclaration[];
  readonly degrees: Degrees;
  /** Bytes of an activation at a block's border. */
  readonly borderBytes: number;
  /** Bytes of scalars that live throughout: where the loss is made, and on every stage. */
  readonly lossScalarBytes: number;
  readonly tailScalarBytes: number;
}

/** The buckets that a sample reads. */
export type SampleBuckets = (context: BlockContext) => readonly Bucket[];

export function sampleOf(
  context: BlockContext,
  gradientType: DType,
  bucketsOf: SampleBuckets = sampleBuckets,
  alikeOf: AlikeBook = alikeBook(),
): Sample {
  const calls = sampleCalls(context);
  const { program, list, scalars } = sampleProgram(context, gradientType, bucketsOf, calls);
  const kinds = context.kinds.kinds.length;
  const expanded = expandList(program, list);
  const degrees = degreesOf(program);
  const lifetimes = lifetimesOf(expanded, degrees);
  const ranges = lifetimes.ranges.map(({ instance, first, last, bytes }) => ({
    instance: instance.name,
    first,
    last,
    bytes,
  }));
  const { operations } = expanded;
  let alike: Uint32Array | undefined;
  return {
    program,
    microBatch: context.microBatch,
    operations,
    operationAt: (index) => operations[index] as ExpandedOperation,
    alike: () => {
      alike ??= alikeOf({ program, operations, degrees });
      return alike;
    },
    isCompute: Uint8Array.from(operations, ({ operation }) => (operation.kind === 'compute' ? 1 : 0)),
    kinds,
    calls: shapedCalls(operations, ranges, calls, kinds),
    ranges,
    rangeBytes: Float64Array.from(ranges, ({ bytes }) => bytes),
    owners: lifetimes.ranges.map(({ instance }) => instance.declaration),
    degrees,
    borderBytes: ranges.find(isBorder)?.bytes ?? 0,
    lossScalarBytes: lifetimes.residentBytes,
    tailScalarBytes: scalars * bytesOf('fp32') - lifetimes.residentBytes,
  };
}

/** The calls as a list of one rank, in a program of its own. */
function sampleProgram(
  context: BlockContext,
  gradientType: DType,
  bucketsOf: SampleBuckets,
  calls: readonly CallLine[],
): { readonly program: Program; readonly list: RankList; readonly scalars: number } {
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
  const buckets = bucketsOf(alone);
  const list: RankList = {
    name: 'P0',
    pipeline: 0,
    buckets,
    units: [],
    buffers: buckets.flatMap((bucket) => containersOf(bucket, context.type, gradientType)),
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
  return { program, list, scalars: scalars.length };
}

/** The range of the input of the first layer. */
export const isBorder = ({ instance }: Pick<SampleRange, 'instance'>): boolean => instance === 'x0[0]';

/** A call knows nothing of its replicas: one data rank is enough, or as many as fill one expert grid. */
function fewestData(context: BlockContext): number {
  for (let data = 1; ; data++) if (Number.isInteger(expertDataWith(context, data))) return data;
}

const expertDataWith = ({ tensor, context, grid }: BlockContext, data: number): number =>
  grid === undefined ? 1 : (tensor * context * data) / (grid.expert * grid.expertTensor);

/** A line of the sample, and the pass that it belongs to. */
interface CallLine {
  readonly pass: Pass;
  readonly kind: number;
  readonly item: Omit<Call, 'id'>;
}

const passes: readonly Pass[] = ['F', 'B', 'W', 'I'];

function shapedCalls(
  operations: readonly ExpandedOperation[],
  ranges: readonly SampleRange[],
  lines: readonly CallLine[],
  kinds: number,
): readonly SampleCall[] {
  const calls: SampleCall[] = [];
  for (let kind = HEAD; kind < kinds; kind++) {
    for (const pass of passes) {
      const isOf = ({ item }: ExpandedOperation): boolean => {
        const line = lines[item - 1];
        return line?.pass === pass && line.kind === kind;
      };
      const from = operations.findIndex(isOf);
      if (from < 0) continue;
      const to = operations.findLastIndex(isOf) + 1;
      const own = operations.slice(from, to);
      calls.push({
        pass,
        kind,
        from,
        to,
        time: timeShape(own, bordersOf(pass, kind, kinds)),
        memory: memoryShape(operations, ranges, from, to),
        readsWeights: own.some((each) => each.reads.some((read) => read?.instance.name.startsWith('W.'))),
      });
    }
  }
  return calls;
}

/** Borders of a call in the sample. */
function bordersOf(pass: Pass, kind: number, kinds: number): Borders {
  const block = kind === HEAD ? kinds : kind;
  const below = `${pass === 'F' ? 'x' : 'dx'}${block}[0]`;
  const above = `${pass === 'F' ? 'x' : 'dx'}${block + 1}[0]`;
  const [input, output] = pass === 'F' ? [below, above] : [above, below];
  // Its gradient was left by the input part, and the call waits for the one before it (see compile/lower/list.ts).
  if (kind === EMBED && pass === 'W') return { input, inputOfLane: true, output: undefined };
  if (kind === EMBED) return pass === 'F' ? { input: undefined, output } : { input, output: undefined };
  if (kind === HEAD) return pass === 'F' ? { input, output: undefined } : { input: undefined, output };
  return { input, output };
}

/** A context that takes either backward has two samples, so here it is one or the other. */
function sampleCalls(context: BlockContext): readonly CallLine[] {
  const { kinds } = context.kinds;
  const call = (pass: Pass, kind: number, template: string, block: number, again = false): CallLine => ({
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
  const embed = (pass: Pass): CallLine => call(pass, EMBED, `${pass}.embed`, -1);
  const head = (pass: Pass): CallLine => call(pass, HEAD, `${pass}.head`, kinds.length);
  const layers = (pass: Pass): readonly CallLine[] =>
    kinds.flatMap((kind, block) => [
      ...(kind.recompute === 'full' && (pass === 'B' || pass === 'I')
        ? [call(pass, block, templateOf('F.layer', kind), block, true)]
        : []),
      call(pass, block, templateOf(`${pass}.layer`, kind), block),
    ]);
  const up = (pass: Pass): readonly CallLine[] =>
    kinds.flatMap((_, index) => {
      const block = kinds.length - 1 - index;
      return layers(pass).filter(({ kind }) => kind === block);
    });
  const forward = [embed('F'), ...layers('F'), head('F')];
  // A frozen embedding has no backward.
  const embedded = (pass: Pass): readonly CallLine[] => (partsOf('embed', context).length > 0 ? [embed(pass)] : []);
  if (context.backward !== 'split') return [...forward, head('B'), ...up('B'), ...embedded('B')];
  const weightOfHead = partsOf('head', context).includes('W') ? [head('W')] : [];
  return [...forward, head('I'), ...up('I'), ...weightOfHead, ...up('W'), ...embedded('W')];
}

/** Weights and gradients that are not resident, so that their first and last use show. */
function containersOf({ name, elements, frozen }: Bucket, type: DType, gradient: DType): readonly BufferDeclaration[] {
  const flat = { dims: [{ label: 'n', size: elements }], scope: 'period' as const, bucket: name };
  const weights: BufferDeclaration = { name: `W.${name}`, role: 'weight', dtype: type, ...flat };
  if (frozen) return [weights];
  return [weights, { name: `G.${name}`, role: 'gradient', dtype: gradient, ...flat }];
}
