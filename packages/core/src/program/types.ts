/** @file The step program: what each rank computes and exchanges in one optimizer step, as plain serialisable data.
 *
 * Compact form: ranks that differ only in tensor or data coordinate share a list; layers and micro-batches repeat as
 * calls of block templates. `expand.ts` writes the operations of one list out.
 */
import type { AxisName, Mesh } from '../mesh/index.ts';
import type { Dim, DType } from '../tensor/index.ts';
import type { KernelName } from './kernels/index.ts';

export type Role = 'weight' | 'gradient' | 'optimizer' | 'activation' | 'exchange' | 'scratch' | 'input' | 'logits';

/** How instances of a declared buffer are told apart, and so how their names are written out.
 *
 * `period`: one. `micro`: `z[u]`. `block`: `n1[l,u]`. `boundary`: the activation between blocks, `x3[u]`; in a layer
 * template `x` is boundary l and `y` boundary l + 1 (`dx` and `dy` alike). Resident buffers are `period`.
 */
export type Scope = 'period' | 'micro' | 'block' | 'boundary';

/** A sum or maximum that somebody must still reduce over an axis or named group. */
export interface PartialState {
  readonly over: string;
  readonly reduce: 'sum' | 'max';
}

export interface BufferDeclaration {
  readonly name: string;
  readonly role: Role;
  readonly dtype: DType;
  /** Global shape and cuts. A flat bucket is one dim of the elements of the rank, `parts` cut by themselves. */
  readonly dims: readonly Dim[];
  /** State right after the first write; the verifier derives it from the kernels and compares. */
  readonly partial?: readonly PartialState[];
  readonly scope: Scope;
  /** Carried from one period to the next and live throughout. */
  readonly resident?: true;
  /** The bucket whose parameters lie in this buffer. */
  readonly bucket?: string;
  /** In place: this buffer is the data rank's own shard of that one and has no memory of its own. */
  readonly shardOf?: string;
  /** It lies in host memory; absent: in that of the device. */
  readonly place?: 'host';
}

/** Lanes are in order. Exchanges between stages have one lane for each direction and kind. */
export type Lane =
  | 'compute'
  | 'tensor'
  | 'data.gather'
  | 'data.reduce'
  | 'data.replicate'
  | 'ends'
  | 'context'
  | 'expert'
  | 'act.out'
  | 'act.in'
  | 'grad.out'
  | 'grad.in'
  | 'control'
  | 'host'
  | 'host.out'
  | 'host.update'
  | 'host.in';

export type Direction = 'forward' | 'backward' | 'again' | 'tail' | 'open';

/** The rule that put an operation where it is. Rendered to words in `why.ts`, nowhere else. */
export type WhyRule =
  | 'model'
  | 'gather-sequence'
  | 'gather-again'
  | 'sum-partial'
  | 'scatter-partial'
  | 'vocabulary-parallel'
  | 'recompute'
  | 'next-stage'
  | 'previous-stage'
  | 'gather-updated'
  | 'gather-unit'
  | 'pass-keys'
  | 'pass-key-gradients'
  | 'gather-keys'
  | 'scatter-key-gradients'
  | 'heads-for-tokens'
  | 'reduce-gradient'
  | 'sum-sets'
  | 'sum-whole-parameters'
  | 'sum-tied'
  | 'sum-copies'
  | 'count-rows'
  | 'dispatch-rows'
  | 'return-rows'
  | 'gather-expert'
  | 'scatter-expert'
  | 'global-norm'
  | 'copy-out'
  | 'optimizer'
  | 'copy-in'
  | 'mean-loss'
  | 'lifetime';

/** Why an operation is there, as data; layer and micro-batch are known from the call. */
export interface Why {
  readonly rule: WhyRule;
  readonly axis?: string;
  readonly bucket?: string;
}

export interface Write {
  readonly buffer: string;
  /** Adds into the buffer; the first write of a lifetime overwrites. */
  readonly accumulate?: true;
}

/** `shift`: every member hands its buffer to the next one and takes that of the one before, round in a circle. */
export type CollectiveKind = 'all-reduce' | 'reduce-scatter' | 'all-gather' | 'broadcast' | 'all-to-all' | 'shift';
/** How a collective runs. `tree`: up and down two binary trees on half of the buffer each. `halving-doubling`: halves with
 * partners ever further away, and back. Both run all-reduces only. `hierarchical`: in two tiers, first among members that
 * share a node. */
export type Algorithm = 'ring' | 'tree' | 'halving-doubling' | 'hierarchical' | 'direct';

interface OperationBase {
  readonly lane: Lane;
  /** Operands in the order of the kernel's row; `none` for an optional operand that is absent. */
  readonly reads: readonly string[];
  readonly writes: readonly Write[];
  readonly why: Why;
}

export interface Compute extends OperationBase {
  readonly kind: 'compute';
  readonly kernel: KernelName;
  readonly attributes?: Readonly<Record<string, number | string>>;
}

/** One collective over an axis or a named group.
 *
 * `dim`: the label of the dim that is gathered or scattered, of an all-to-all the one that it gathers; `flat` for
 * buckets; absent for all-reduce, shift and scalars.
 * Exchanges of routed rows read their table of counts as a second operand: pieces are as uneven as it says.
 * `factor`: multiplies the result of a reduction. Reductions are sums and the seed of the loss is 1 / global tokens, so
 * it is 1 everywhere; it is written so that a mean cannot hide.
 */
export interface Collective extends OperationBase {
  readonly kind: 'collective';
  readonly collective: CollectiveKind;
  readonly axis: string;
  readonly dim?: string;
  readonly reduce?: 'sum' | 'max';
  readonly accumulateIn?: DType;
  readonly factor: number;
  readonly algorithm: Algorithm;
  /** Of `hierarchical`: so many members, neighbours by place, share a node. */
  readonly inner?: number;
}

/** Point to point, rendezvous; the buffer's instance name is the tag. `peer` is a pipeline coordinate. */
export interface Send extends OperationBase {
  readonly kind: 'send';
  readonly peer: number;
}

export interface Recv extends OperationBase {
  readonly kind: 'recv';
  readonly peer: number;
}

/** The host waits for the device and reads a value. */
export interface Wait extends OperationBase {
  readonly kind: 'wait';
}

/** Work of the host lane. */
export interface Host extends OperationBase {
  readonly kind: 'host';
  readonly work: string;
}

/** Delimits phases; no work. */
export interface Mark extends OperationBase {
  readonly kind: 'mark';
  readonly phase: string;
}

/** Written by the liveness pass only. */
export interface Alloc extends OperationBase {
  readonly kind: 'alloc';
}

/** Written by the liveness pass only. */
export interface Free extends OperationBase {
  readonly kind: 'free';
}

export type Operation = Compute | Collective | Send | Recv | Wait | Host | Mark | Alloc | Free;

export type BlockKind = 'embed' | 'layer' | 'head';

/** The operations of one block in one direction, written once and called for each layer and micro-batch. */
export interface Template {
  /** `F.layer`, `B.layer`, `F.layer.moe` ...; `I.layer` and `W.layer` where backward is taken in two parts. */
  readonly name: string;
  readonly block: BlockKind;
  readonly direction: 'forward' | 'backward';
  /** The part of backward that it is: the gradient of the block's input, or those of its weights. Absent: both. */
  readonly part?: 'input' | 'weight';
  readonly operations: readonly Operation[];
}

/** One line of a list: a call of a template, or an operation. `id` counts from 1 in the list. */
export type Item = Call | ListOperation;

/** Calls `template` for the blocks from `first` to `last` (descending in backward) and one micro-batch. */
export interface Call {
  readonly kind: 'call';
  readonly id: number;
  readonly template: string;
  /** Layer indices; embed is -1, head is the number of layers. */
  readonly first: number;
  readonly last: number;
  readonly microBatch: number;
  /** Forward once more, for the backward that follows. */
  readonly again?: true;
  /** Which gathered copy of each bucket the call reads, when weights are gathered for each run. */
  readonly using?: Readonly<Record<string, number>>;
  readonly needs: readonly number[];
}

export interface ListOperation {
  readonly kind: 'operation';
  readonly id: number;
  readonly operation: Operation;
  /** Earlier lines of this list whose end this one needs, beside what its data needs. */
  readonly needs: readonly number[];
}

/** A piece of a Hugging Face tensor that a view holds. */
export interface ViewTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly transposed?: true;
}

/** One parameter inside a bucket. `dims` are global with tensor cuts; `offset` counts elements of the rank. */
export interface View {
  /** Logical name, as templates use it: `qkv.w`. */
  readonly name: string;
  readonly block: number;
  readonly offset: number;
  readonly dims: readonly Dim[];
  readonly tensors: readonly ViewTensor[];
  readonly decay: boolean;
  /** In the norm only on these coordinates: whole parameters on tensor 0, tied ones on the first stage. */
  readonly counted: readonly { readonly axis: AxisName; readonly coordinate: number }[];
}

/** Parameters that lie flat in one buffer, are reduced together and are cut over data together.
 *
 * Buffers of a bucket `b`: `W.b` weights, `G.b` gradients, `S.b` the gradient shard, `P.b` the weight shard (sharding 3),
 * `O.b.master` `O.b.m` `O.b.v` optimizer state; where that lies in host memory, `H.b` is the gradient and `M.b` the new
 * weights there. The first `summed` elements are gradients that are partial over tensor;
 * the operand `G.b.summed` (or `S.b.summed`) is that slice.
 */
export interface Bucket {
  readonly name: string;
  /** Elements of the rank, without padding. */
  readonly elements: number;
  readonly summed: number;
  readonly views: readonly View[];
  /** Its parameters are not trained: it has weights and nothing else. */
  readonly frozen?: true;
  /** Named group that holds copies of these parameters (tied embedding across stages). */
  readonly copies?: string;
}

/** Gather granularity of sharding 3: buckets that are gathered and freed together. */
export interface Unit {
  readonly name: string;
  readonly buckets: readonly string[];
}

export interface RankList {
  /** `P0`: the list of pipeline coordinate 0. */
  readonly name: string;
  readonly pipeline: number;
  readonly buckets: readonly Bucket[];
  readonly units: readonly Unit[];
  /** Containers of the buckets; they differ from list to list. */
  readonly buffers: readonly BufferDeclaration[];
  readonly items: readonly Item[];
}

/** Named ranks: the first and the last stage; data and context ranks together; context ranks that swap heads.
 *
 * `coordinates` are those of the members on the axis `along`, on which the group's bytes are booked; on each axis of
 * `joint` it has all coordinates, on all others that of the rank. With `repeats` the axis is made of such groups:
 * `coordinates` (evenly spaced) are those of the one that holds coordinate 0, the others are shifted.
 */
export interface Group {
  readonly name: string;
  readonly along: AxisName;
  readonly coordinates: readonly number[];
  readonly joint?: readonly AxisName[];
  readonly repeats?: true;
}

export interface Program {
  readonly schema: 'meshwright.program/1';
  readonly name: string;
  readonly mesh: Mesh;
  readonly groups: readonly Group[];
  /** Layers of the model; the boundary after the last one is `x<layers>`. */
  readonly layers: number;
  readonly microBatches: number;
  /** 1 / tokens of the global batch: the seed of the loss. */
  readonly lossScale: number;
  readonly optimizer: 'adamw' | 'sgd';
  readonly buffers: readonly BufferDeclaration[];
  readonly templates: readonly Template[];
  readonly lists: readonly RankList[];
}
