/** @file Everything that the figure of a timeline shows, as data: the invocations of each stage and its exchanges. */
import { assertInvariant } from '@meshwright/core/errors';
import type { ExpandedOperation, Lane, Program } from '@meshwright/core/program';
import type { SimulatedList, SimulatedStep } from '@meshwright/core/sim';

/** From and to, in seconds since the start of the period. */
export type Interval = readonly [from: number, to: number];

/** `again`: forward once more, for the backward that follows. `weight`: the weight part of a backward that is split. */
export type ComputeRole = 'forward' | 'backward' | 'weight' | 'again' | 'optimizer';

/** Neighbouring operations of one kind. */
export interface Stretch {
  readonly role: ComputeRole;
  readonly busy: readonly Interval[];
}

/** What a stage does for one micro-batch in one direction without turning to another, or the optimizer. */
export interface Invocation {
  readonly role: Exclude<ComputeRole, 'again'>;
  readonly microBatch: number | undefined;
  /** Which chunk of the stage, from 0 in model order; undefined for the optimizer. */
  readonly chunk: number | undefined;
  /** Blocks in order of execution: -1 is the embedding, the number of layers the head. */
  readonly blocks: readonly number[];
  readonly span: Interval;
  /** Seconds in which the compute lane works. */
  readonly computing: number;
  readonly stretches: readonly Stretch[];
}

/** Lanes that are drawn in one row, by what they carry. */
export type ExchangeRow = 'tensor' | 'context' | 'expert' | 'data' | 'ends' | 'stages';

/** One stage in time. */
export interface StageTimeline {
  readonly stage: number;
  readonly invocations: readonly Invocation[];
  /** Blocks of each chunk in model order. */
  readonly chunks: readonly (readonly number[])[];
  readonly exchanges: Readonly<Record<ExchangeRow, readonly Interval[]>>;
  /** Seconds in which the compute lane works. */
  readonly computing: number;
}

const rowOfLane: Readonly<Record<Lane, ExchangeRow | undefined>> = {
  compute: undefined,
  host: undefined,
  tensor: 'tensor',
  context: 'context',
  expert: 'expert',
  'data.gather': 'data',
  'data.reduce': 'data',
  'data.replicate': 'data',
  ends: 'ends',
  control: undefined,
  'host.out': undefined,
  'host.update': undefined,
  'host.in': undefined,
  'act.out': 'stages',
  'act.in': 'stages',
  'grad.out': 'stages',
  'grad.in': 'stages',
};

/** The stages of a simulated step, in order. */
export const stageTimelines = ({ program, lists }: SimulatedStep): readonly StageTimeline[] =>
  lists.map((list) => stageTimeline(program, list)).sort((one, other) => one.stage - other.stage);

function stageTimeline(program: Program, { expanded, start, end }: SimulatedList): StageTimeline {
  const directionOf = directions(program, expanded.list.items);
  const invocations: Draft[] = [];
  const exchanges: Record<ExchangeRow, Interval[]> = {
    tensor: [],
    context: [],
    expert: [],
    data: [],
    ends: [],
    stages: [],
  };
  for (const operation of expanded.operations) {
    const interval: Interval = [start[operation.index] ?? 0, end[operation.index] ?? 0];
    const { lane, kind } = operation.operation;
    const row = rowOfLane[lane];
    if (interval[1] <= interval[0]) continue;
    if (row !== undefined && kind !== 'mark') exchanges[row].push(interval);
    if (lane !== 'compute') continue;
    const role = roleOf(operation, directionOf(operation.item));
    const last = invocations.at(-1);
    if (last !== undefined && continues(last, operation, role)) add(last, operation, role, interval);
    else invocations.push(begin(operation, role, interval));
  }
  const chunks = chunksOf(invocations);
  const finished = invocations.map((draft) => finish(draft, chunks));
  return {
    stage: expanded.list.pipeline,
    invocations: finished,
    chunks,
    exchanges,
    computing: finished.reduce((sum, each) => sum + each.computing, 0),
  };
}

/** An invocation that is being put together. */
interface Draft {
  readonly role: Invocation['role'];
  readonly microBatch: number | undefined;
  readonly blocks: number[];
  readonly stretches: { readonly role: ComputeRole; readonly busy: Interval[] }[];
}

function begin({ block, microBatch }: ExpandedOperation, role: ComputeRole, interval: Interval): Draft {
  return {
    role: role === 'again' ? 'backward' : role,
    microBatch,
    blocks: block === undefined ? [] : [block],
    stretches: [{ role, busy: [interval] }],
  };
}

function add(draft: Draft, { block }: ExpandedOperation, role: ComputeRole, interval: Interval): void {
  if (block !== undefined && draft.blocks.at(-1) !== block) draft.blocks.push(block);
  const last = draft.stretches.at(-1);
  if (last?.role === role) last.busy.push(interval);
  else draft.stretches.push({ role, busy: [interval] });
}

/** The same micro-batch and direction, and the same block or a neighbour: another chunk is another invocation. */
function continues(draft: Draft, { block, microBatch }: ExpandedOperation, role: ComputeRole): boolean {
  const wanted = role === 'again' ? 'backward' : role;
  if (draft.role !== wanted || draft.microBatch !== microBatch) return false;
  const last = draft.blocks.at(-1);
  return block === undefined || last === undefined || Math.abs(block - last) <= 1;
}

/** The chunks that forward goes through, each once. */
function chunksOf(drafts: readonly Draft[]): readonly (readonly number[])[] {
  const chunks = new Map<number, readonly number[]>();
  for (const { role, blocks } of drafts) if (role === 'forward') chunks.set(Math.min(...blocks), blocks);
  return [...chunks].sort(([one], [other]) => one - other).map(([, blocks]) => blocks);
}

function finish(draft: Draft, chunks: readonly (readonly number[])[]): Invocation {
  const { role, microBatch, blocks, stretches } = draft;
  const all = stretches.flatMap(({ busy }) => busy);
  const [first] = all;
  const last = all.at(-1);
  assertInvariant(first !== undefined && last !== undefined, () => 'an invocation without operations');
  const computing = all.reduce((sum, [from, to]) => sum + to - from, 0);
  const lowest = Math.min(...blocks);
  const chunk = role === 'optimizer' ? undefined : chunks.findIndex((each) => each.includes(lowest));
  return { role, microBatch, chunk, blocks, span: [first[0], last[1]], computing, stretches };
}

/** The direction of the template that a line of a list calls, or its weight part. */
function directions(program: Program, items: SimulatedList['expanded']['list']['items']) {
  const templates = new Map(
    program.templates.map(({ name, direction, part }) => [name, part === 'weight' ? part : direction]),
  );
  const byItem = new Map(
    items.flatMap((item) => (item.kind === 'call' ? [[item.id, templates.get(item.template)] as const] : [])),
  );
  return (item: number): CallRole | undefined => byItem.get(item);
}

type CallRole = 'forward' | 'backward' | 'weight';

function roleOf({ operation, again }: ExpandedOperation, direction: CallRole | undefined): ComputeRole {
  if (direction === undefined) return 'optimizer';
  return again || operation.why.rule === 'recompute' ? 'again' : direction;
}
