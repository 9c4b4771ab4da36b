/** @file What a GPU holds after each step: bytes by role, and of each shown GPU's piece of the model how much of it. */
import type { Coordinate } from '@meshwright/core/mesh';
import { type Bucket, type ExpandedList, type Instance, type LiveRange, lifetimesOf } from '@meshwright/core/program';
import { cutAxes, type Degrees } from '@meshwright/core/tensor';

/** The four shelves of a GPU: weights, gradients, optimizer state, activations. */
export type ShelfName = 'W' | 'G' | 'O' | 'A';

/** How much of one piece lies here, as shares of the piece. `stale`: there, but older than the last update, or summed
 * over this GPU only; `room`: memory that is taken and holds nothing yet. */
export interface Cell {
  readonly fresh: number;
  readonly stale: number;
  readonly room: number;
  /** Micro-batches, for activations. */
  readonly count?: number;
}

/** What the ranks of a list hold at one moment, before coordinates choose. */
export interface Snapshot {
  readonly bytes: Readonly<Record<ShelfName | 'other', number>>;
  readonly total: number;
  readonly parameters: readonly ParameterShare[];
  /** By group of layers: share of its layers that is alive, and micro-batches. */
  readonly activations: readonly Cell[];
}

/** A share of the parameters of a list: of all ranks that differ in `cut`, or of this rank alone. */
export interface ParameterShare {
  readonly shelf: Exclude<ShelfName, 'A'>;
  readonly cut: readonly string[];
  /** `mine`: fresh on the rank that owns the piece, stale on the others. */
  readonly state: 'fresh' | 'stale' | 'room' | 'mine';
  readonly share: number;
}

/** Groups of layers that activations are shown in. */
const ACTIVATION_CELLS = 8;

const shelfOf: Readonly<Record<string, ShelfName>> = { weight: 'W', gradient: 'G', optimizer: 'O', activation: 'A' };

/** Answers what a list holds after the operation `cursor`, -1 before the first. */
export function snapshots(expanded: ExpandedList, degrees: Degrees, layers: number): (cursor: number) => Snapshot {
  const lifetimes = lifetimesOf(expanded, degrees);
  const ageOf = ages(expanded);
  const elements = expanded.list.buckets.reduce((sum, bucket) => sum + bucket.elements, 0);
  const buckets = new Map(expanded.list.buckets.map((bucket) => [bucket.name, bucket]));
  const shards = shardsInPlace(expanded);
  return (cursor) => {
    const alive = [
      ...lifetimes.residents,
      ...lifetimes.ranges.filter(({ first, last }) => first <= cursor && cursor <= last),
    ];
    const bytes = { W: 0, G: 0, O: 0, A: 0, other: 0 };
    for (const { instance, bytes: size } of alive) bytes[shelfOf[instance.declaration.role] ?? 'other'] += size;
    return {
      bytes,
      total: alive.reduce((sum, each) => sum + each.bytes, 0),
      parameters: alive.flatMap(({ instance }) => {
        const bucket = buckets.get(instance.declaration.bucket ?? '');
        return bucket ? shareOf(instance, bucket, elements, ageOf(instance, bucket, cursor), shards) : [];
      }),
      activations: activationCells(alive, layers),
    };
  };
}

/** Master weights and moments are one share, that of the first moment: all have the same cut. */
function shareOf(
  { name, declaration }: Instance,
  { elements, views }: Bucket,
  all: number,
  state: ParameterShare['state'],
  shards: ReadonlySet<string>,
): readonly ParameterShare[] {
  const shelf = shelfOf[declaration.role];
  if (shelf === undefined || shelf === 'A' || shards.has(declaration.name)) return [];
  if (shelf === 'O' && !/\.m(@|\[|$)/.test(name)) return [];
  const cut = [...new Set([...cutAxes(declaration.dims), ...views.flatMap((view) => cutAxes(view.dims))])];
  return [{ shelf, cut, state, share: all === 0 ? 0 : elements / all }];
}

const shardsInPlace = ({ list }: ExpandedList): ReadonlySet<string> =>
  new Set(list.buffers.filter(({ shardOf }) => shardOf !== undefined).map(({ name }) => name));

/** Weights are stale from the update until they are gathered, gradients until they are summed over the replicas. */
function ages({
  operations,
}: ExpandedList): (instance: Instance, bucket: Bucket, cursor: number) => ParameterShare['state'] {
  const written = new Map<string, number>();
  const summed = new Map<string, number>();
  const gathered = new Map<string, number>();
  const scattered = new Set<string>();
  let updated = operations.length;
  for (const { index, operation, writes } of operations) {
    const { rule, bucket } = operation.why;
    if (rule === 'optimizer') updated = Math.min(updated, index);
    if (rule === 'reduce-gradient' && bucket !== undefined) {
      summed.set(bucket, index);
      if (operation.kind === 'collective' && operation.collective === 'reduce-scatter') scattered.add(bucket);
    }
    if (rule === 'gather-updated' && bucket !== undefined) gathered.set(bucket, index);
    for (const { operand } of writes) {
      const { name } = operand.instance;
      if (!written.has(name)) written.set(name, index);
    }
  }
  return ({ name, declaration }, bucket, cursor) => {
    if (declaration.role === 'weight') {
      const at = gathered.get(bucket.name);
      return at !== undefined && (cursor < at || cursor >= updated) ? 'mine' : 'fresh';
    }
    if (declaration.role !== 'gradient') return 'fresh';
    if (cursor < (written.get(name) ?? -1)) return 'room';
    if (cutAxes(declaration.dims).length > 0) return 'fresh';
    if (cursor < (summed.get(bucket.name) ?? -1)) return 'stale';
    return scattered.has(bucket.name) ? 'mine' : 'fresh';
  };
}

/** Which groups of layers have activations alive, and for how many micro-batches at once. */
function activationCells(alive: readonly LiveRange[], layers: number): readonly Cell[] {
  const blocks = Array.from({ length: ACTIVATION_CELLS }, () => new Map<number, Set<number>>());
  for (const { instance } of alive) {
    if (instance.declaration.role !== 'activation' || instance.declaration.scope !== 'block') continue;
    const [, block, microBatch] = /\[(-?\d+),(\d+)\]$/.exec(instance.name) ?? [];
    if (block === undefined) continue;
    const within = Math.min(layers - 1, Math.max(0, Number(block)));
    const group = blocks[Math.floor((within * ACTIVATION_CELLS) / layers)];
    const found = group?.get(within) ?? new Set();
    found.add(Number(microBatch));
    group?.set(within, found);
  }
  return blocks.map((group, index) => {
    const from = Math.ceil((index * layers) / ACTIVATION_CELLS);
    const to = Math.ceil(((index + 1) * layers) / ACTIVATION_CELLS);
    const count = Math.max(0, ...[...group.values()].map((each) => each.size));
    return { fresh: to > from ? Math.min(1, group.size / (to - from)) : 0, stale: 0, room: 0, count };
  });
}

/** Of the piece that the rank at `owner` keeps, what a rank at `self` has of one shelf. Stages hold different
 * parameters; ranks of an axis do where it cuts the bucket or the parameters in it (the few that are whole count with it). */
export function cellOf(
  { parameters }: Snapshot,
  shelf: Exclude<ShelfName, 'A'>,
  self: Coordinate,
  owner: Coordinate,
): Cell {
  const cell = { fresh: 0, stale: 0, room: 0 };
  if (self.pipeline !== owner.pipeline) return cell;
  for (const { shelf: on, cut, state, share } of parameters) {
    if (on !== shelf) continue;
    const here = cut.every((axis) => self[axis as keyof Coordinate] === owner[axis as keyof Coordinate]);
    if (here) cell[state !== 'mine' ? state : self.data === owner.data ? 'fresh' : 'stale'] += share;
  }
  return { fresh: Math.min(1, cell.fresh), stale: Math.min(1, cell.stale), room: Math.min(1, cell.room) };
}
