/** @file The shape of a step program as data. Where it and `types.ts` disagree, the sets of names fail to compile and the
 * tests of `json` fail: change both together.
 */
import { kernels } from '../kernels/index.ts';
import type { Algorithm, BlockKind, Operation, Program, Scope, Template } from '../types.ts';
import { axisName, collective, dtype, lane, reduce, role, rule } from './name-shapes.ts';
import type { Field, UnionShape } from './shape.ts';
import {
  field,
  listOf,
  type ObjectShape,
  oneOf,
  optional,
  recordOf,
  scalar,
  text,
  truth,
  whole,
  yes,
} from './shape.ts';

/** More layers or micro-batches than this are a slip of the pen, not a model. */
const MOST = 100_000;

const object = (name: string, about: string, fields: Readonly<Record<string, Field>>): ObjectShape => ({
  kind: 'object',
  name,
  about,
  fields,
});

const dim = object('dim', 'One dim of a tensor.', {
  label: field(text, 'Name of the dim.'),
  size: field(whole(0), 'Global size in elements.'),
  cut: optional(listOf(text, 1), 'Axes or groups that cut the dim, outer first; absent when the dim is whole.'),
  parts: optional(listOf(whole(0), 1), 'Global sizes of the tensors fused along this dim, each cut by itself.'),
  zigzag: optional(yes, 'The outermost axis of n ranks cuts 2 n pieces; rank r holds pieces r and 2 n - 1 - r.'),
  routed: optional(
    object('routing', 'Rows of tokens that a router has sent to experts.', {
      experts: field(whole(1), 'Experts that share the rows; they stand in a dim before this one.'),
      load: field(
        { kind: 'number', integer: false, minimum: 0, maximum: 1e6 },
        'Rows of this rank, or of the busiest one, over the mean.',
      ),
    }),
    'Rows of routed tokens, whose number on a rank depends on data.',
  ),
});

const axis = object('axis', 'An axis of the mesh.', {
  name: field(axisName, 'Name.'),
  degree: field(whole(1, 1_000_000), 'Number of coordinates.'),
});

const partial = object('partial', 'A reduction that is still to be done.', {
  over: field(text, 'Axis or group.'),
  reduce: field(reduce, 'Operation of the reduction.'),
});

const buffer = object('buffer', 'Declares a buffer; its instances are told apart by its scope.', {
  name: field(text, 'Name; unique in a list together with the buffers of the program.'),
  role: field(role, 'What the buffer is for.'),
  dtype: field(dtype, 'Type of the elements.'),
  dims: field(listOf(dim), 'Global dims with the axes that cut them; none for a scalar.'),
  partial: optional(listOf(partial, 1), 'State right after the first write.'),
  scope: field(
    oneOf<Scope>('scope', { period: true, micro: true, block: true, boundary: true }),
    'One in all, one for each micro-batch, for each block and micro-batch, or for each boundary and micro-batch.',
  ),
  resident: optional(yes, 'Carried from one step to the next.'),
  bucket: optional(text, 'Bucket whose parameters lie in this buffer.'),
  shardOf: optional(text, "Buffer of which this is the rank's own shard, in place."),
  place: optional({ kind: 'constant', value: 'host' }, 'It lies in host memory; absent: in that of the device.'),
});

const why = object('why', 'Why an operation is there.', {
  rule: field(rule, 'Rule that put the operation there.'),
  axis: optional(text, 'Axis or group that the rule speaks of.'),
  bucket: optional(text, 'Bucket that the rule speaks of.'),
});

const write = object('write', 'A buffer that is written.', {
  buffer: field(text, 'Name of the buffer.'),
  accumulate: optional(yes, 'Adds into the buffer; the first write of a lifetime overwrites.'),
});

const variant = (
  kind: Operation['kind'],
  about: string,
  own: Readonly<Record<string, Field>> = {},
): readonly [string, ObjectShape] => [
  kind,
  object(kind, about, {
    kind: field({ kind: 'constant', value: kind }, 'Tells operations apart.'),
    lane: field(lane, 'In-order queue that runs it.'),
    ...own,
    reads: field(listOf(text), "Operands in the order of the kernel's row; `none` for an absent optional operand."),
    writes: field(listOf(write), 'Results in order.'),
    why: field(why, 'Why it is there.'),
  }),
];

const operation: UnionShape = {
  kind: 'union',
  name: 'operation',
  variants: Object.fromEntries([
    variant('compute', 'Runs a kernel.', {
      kernel: field({ kind: 'name', what: 'kernel', values: Object.keys(kernels) }, 'Row of the kernel table.'),
      attributes: optional(recordOf(scalar), 'Global numbers and choices that the kernel needs beside its operands.'),
    }),
    variant('collective', 'A collective over an axis or group.', {
      collective: field(collective, 'Which collective.'),
      axis: field(text, 'Axis or group of the exchange.'),
      dim: optional(text, 'Label of the dim that is gathered or scattered; `flat` for buckets.'),
      reduce: optional(reduce, 'Operation of the reduction.'),
      accumulateIn: optional(dtype, 'Type in which the reduction adds up.'),
      factor: field(
        { kind: 'number', integer: false, minimum: 0, maximum: 1e300, above: true },
        'Multiplies the result.',
      ),
      algorithm: field(
        oneOf<Algorithm>('algorithm', {
          ring: true,
          tree: true,
          'halving-doubling': true,
          hierarchical: true,
          direct: true,
        }),
        'How the bytes travel.',
      ),
      inner: optional(whole(1, MOST), 'Of hierarchical: members, neighbours by place, that share a node.'),
    }),
    variant('send', 'Sends to another stage.', { peer: field(whole(0, MOST), 'Pipeline coordinate of the receiver.') }),
    variant('recv', 'Posts a receive.', { peer: field(whole(0, MOST), 'Pipeline coordinate of the sender.') }),
    variant('wait', 'The host waits for the device.'),
    variant('host', 'Work of the host.', { work: field(text, 'Which work.') }),
    variant('mark', 'Delimits phases.', { phase: field(text, 'Name of the phase that begins.') }),
    variant('alloc', 'Memory is taken (written by the liveness pass).'),
    variant('free', 'Memory is given back (written by the liveness pass).'),
  ]),
};

const template = object('template', 'Operations of one block in one direction.', {
  name: field(text, 'Unique name: F.layer, B.layer.'),
  block: field(oneOf<BlockKind>('kind of block', { embed: true, layer: true, head: true }), 'Kind of block.'),
  direction: field(oneOf<Template['direction']>('direction', { forward: true, backward: true }), 'Direction.'),
  part: optional(
    oneOf<NonNullable<Template['part']>>('part of backward', { input: true, weight: true }),
    'The part of backward that it is: the gradient of its input, or those of its weights. Absent: both.',
  ),
  operations: field(listOf(operation), 'In order of issue.'),
});

const needs: Field = field(listOf(whole(1)), 'Earlier lines whose end this one needs, beside what its data needs.');

const item: UnionShape = {
  kind: 'union',
  name: 'item',
  variants: {
    call: object('call', 'Calls a template for a row of blocks and one micro-batch.', {
      kind: field({ kind: 'constant', value: 'call' }, 'Tells lines apart.'),
      id: field(whole(1), 'Number of the line, from 1.'),
      template: field(text, 'Name of the template.'),
      first: field(whole(-1, MOST), 'First block: -1 is the embedding, the number of layers is the head.'),
      last: field(whole(-1, MOST), 'Last block; below the first in backward.'),
      microBatch: field(whole(0, MOST), 'Micro-batch, from 0.'),
      again: optional(yes, 'Forward once more, for the backward that follows.'),
      using: optional(recordOf(whole(0)), 'Gathered copy of each bucket that the call reads.'),
      needs,
    }),
    operation: object('line', 'One operation in a list.', {
      kind: field({ kind: 'constant', value: 'operation' }, 'Tells lines apart.'),
      id: field(whole(1), 'Number of the line, from 1.'),
      operation: field(operation, 'The operation.'),
      needs,
    }),
  },
};

const viewTensor = object('viewTensor', 'A Hugging Face tensor that a view holds.', {
  name: field(text, 'Name in the checkpoint.'),
  shape: field(listOf(whole(0)), 'Shape in the checkpoint.'),
  transposed: optional(yes, 'Stored as [in, out].'),
});

const view = object('view', 'One parameter inside a bucket.', {
  name: field(text, 'Logical name, as templates use it.'),
  block: field(whole(-1, MOST), 'Block: -1 is the embedding, the number of layers is the head.'),
  offset: field(whole(0), 'First element, counted on the rank.'),
  dims: field(listOf(dim), 'Global dims with tensor cuts.'),
  tensors: field(listOf(viewTensor), 'What it holds, in order.'),
  decay: field(truth, 'Weight decay applies.'),
  counted: field(
    listOf(
      object('coordinate', 'A coordinate on an axis.', {
        axis: field(axisName, 'Axis of the mesh.'),
        coordinate: field(whole(0, MOST), 'Coordinate.'),
      }),
    ),
    'In the gradient norm only on these coordinates; everywhere when empty.',
  ),
});

const bucket = object('bucket', 'Parameters that lie flat in one buffer and are reduced and cut over data together.', {
  name: field(text, 'Unique name in the list.'),
  elements: field(whole(0), 'Elements of the rank, without padding.'),
  summed: field(whole(0), 'How many of the first elements are gradients partial over tensor.'),
  views: field(listOf(view), 'Parameters in order of offset.'),
  frozen: optional(yes, 'Its parameters are not trained: it has weights and nothing else.'),
  copies: optional(text, 'Group that holds copies of these parameters.'),
});

const rankList = object('list', 'What the ranks of one pipeline coordinate issue, in order.', {
  name: field(text, 'Unique name: P0.'),
  pipeline: field(whole(0, MOST), 'Pipeline coordinate.'),
  buckets: field(listOf(bucket), 'Parameters of the stage.'),
  units: field(
    listOf(
      object('unit', 'Buckets that are gathered and freed together.', {
        name: field(text, 'Unique name in the list.'),
        buckets: field(listOf(text), 'Names of the buckets.'),
      }),
    ),
    'Units of sharding 3.',
  ),
  buffers: field(listOf(buffer), 'Buffers of the buckets.'),
  items: field(listOf(item), 'Lines, in order of issue.'),
});

/** The whole program. */
export const programShape: ObjectShape = object('program', 'A step program of Meshwright.', {
  schema: field(
    { kind: 'constant', value: 'meshwright.program/1' satisfies Program['schema'] },
    'Version of this form.',
  ),
  name: field(text, 'Name of the program.'),
  mesh: field(
    object('mesh', 'The ranks as a grid.', {
      axes: field(listOf(axis, 1), 'Fastest first: neighbours in rank differ in the first axis.'),
      experts: optional(listOf(axis, 1), 'The same ranks once more, by the axes that experts lie over.'),
    }),
    'Axes of the mesh.',
  ),
  groups: field(
    listOf(
      object('group', 'Named ranks along an axis, or along several axes together.', {
        name: field(text, 'Unique name.'),
        along: field(axisName, 'Axis; bytes are booked on it.'),
        coordinates: field(listOf(whole(0, MOST), 1), 'Coordinates of the members on the axis.'),
        joint: optional(listOf(axisName, 1), 'Axes on which the group has all coordinates.'),
        repeats: optional(yes, 'The axis is made of groups like this one; the coordinates are those of the first.'),
      }),
    ),
    'Named groups, for exchanges that are not along a whole axis.',
  ),
  layers: field(whole(0, MOST), 'Layers of the model.'),
  microBatches: field(whole(1, MOST), 'Micro-batches of a step.'),
  lossScale: field(
    { kind: 'number', integer: false, minimum: 0, maximum: 1, above: true },
    '1 / tokens of the global batch: the seed of the loss.',
  ),
  optimizer: field(oneOf<Program['optimizer']>('optimizer', { adamw: true, sgd: true }), 'Optimizer.'),
  buffers: field(listOf(buffer), 'Buffers that all lists use.'),
  templates: field(listOf(template), 'Blocks, written once.'),
  lists: field(listOf(rankList), 'One list for each pipeline coordinate.'),
});
