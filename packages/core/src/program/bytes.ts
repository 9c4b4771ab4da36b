/** @file The byte ledger: what each rank of a program sends, by axis, rule and collective. The only place for bytes of
 * an exchange; bytes always mean bytes sent. Buffers are padded to the group: every rank has an equal share.
 */
import { assertInvariant, assertUnreachable } from '../errors/index.ts';
import { worldSize } from '../mesh/index.ts';
import { bytesOf, type Degrees, type Dim, localElements } from '../tensor/index.ts';
import { bookedAxis, degreesOf, type ExpandedList, type ExpandedOperation, expandList, replayOf } from './expand.ts';
import { touchedBytes } from './shapes.ts';
import type { Algorithm, Collective, CollectiveKind, Program, WhyRule } from './types.ts';

/** Bytes that a rank of a group of `degree` sends in a collective over a buffer of `bytes` (whole, padded to the group);
 * of trees and halves the mean over members, which may send different shares, and of a broadcast those of the busiest one.
 *
 * Ring and direct move the same shares in a reduce-scatter or all-gather; a direct all-reduce sends everything to each
 * of the others. Source: Thakur, Rabenseifner, Gropp 2005, section 4. Trees and halves send the bytes of a ring in all. Two tiers
 * send them too, but for an all-to-all, which sends everything once in each tier.
 */
export function collectiveBytes(
  kind: CollectiveKind,
  algorithm: Algorithm,
  degree: number,
  bytes: number,
  inner = 1,
): number {
  const others = degree - 1;
  switch (kind) {
    case 'all-reduce':
      return algorithm === 'direct' ? others * bytes : (2 * others * bytes) / degree;
    case 'reduce-scatter':
    case 'all-gather':
      return (others * bytes) / degree;
    case 'all-to-all':
      if (algorithm !== 'hierarchical') return (others * bytes) / degree;
      return ((inner - 1) * (degree / inner) + (degree / inner - 1) * inner) * (bytes / degree);
    case 'broadcast':
      return algorithm === 'direct' ? others * bytes : Math.min(1, others) * bytes;
    case 'shift':
      return Math.min(1, others) * bytes;
    default:
      return assertUnreachable(kind);
  }
}

/** Bytes of the whole buffer of a collective, padded so that each rank's share is equal. */
export function paddedBytes(operation: Collective, expanded: ExpandedOperation, degrees: Degrees): number {
  const [read] = expanded.reads;
  const write = expanded.writes[0]?.operand;
  assertInvariant(read !== undefined && write !== undefined, () => `a ${operation.collective} without operands`);
  const degree = degrees(operation.axis);
  const element = bytesOf(read.instance.declaration.dtype);
  switch (operation.collective) {
    case 'all-reduce':
      return paddedTo(localElements(read.dims, degrees), partsOfAllReduce(operation, degree)) * element;
    case 'reduce-scatter':
      return shareElements(write.dims, operation, degrees) * degree * element;
    case 'all-gather':
      return shareElements(read.dims, operation, degrees) * degree * element;
    case 'all-to-all':
    case 'broadcast':
    case 'shift':
      return touchedBytes(read, degrees);
    default:
      return assertUnreachable(operation.collective);
  }
}

/** Equal parts that an all-reduce works on: a piece for each rank, half for each tree, as many as can be halved, or all at once. */
export function partsOfAllReduce({ algorithm }: Pick<Collective, 'algorithm'>, degree: number): number {
  switch (algorithm) {
    case 'direct':
      return 1;
    case 'tree':
      return 2;
    case 'halving-doubling':
      return wholeHalves(degree);
    case 'ring':
    case 'hierarchical':
      return degree;
    default:
      return assertUnreachable(algorithm);
  }
}

/** The largest power of two in `degree`. */
const wholeHalves = (degree: number): number => 2 ** Math.floor(Math.log2(degree));

const paddedTo = (elements: number, parts: number): number => Math.ceil(elements / parts) * parts;

/** Elements of one rank's share; an operand in place (`W.body -> W.body`) is declared whole and is cut here. */
function shareElements(dims: readonly Dim[], { axis, dim }: Collective, degrees: Degrees): number {
  if (dims.some((each) => each.cut?.includes(axis))) return localElements(dims, degrees);
  const cut = dims.map((each, index) =>
    (dim === 'flat' ? index === 0 : each.label === dim) ? { ...each, cut: [...(each.cut ?? []), axis] } : each,
  );
  return localElements(cut, degrees);
}

/** Bytes that a rank sends in one operation; 0 for what is not an exchange, and for a receive. */
export function sentBytes(expanded: ExpandedOperation, degrees: Degrees): number {
  const { operation } = expanded;
  if (operation.kind === 'send') {
    const [read] = expanded.reads;
    return read === undefined ? 0 : touchedBytes(read, degrees);
  }
  if (operation.kind !== 'collective') return 0;
  const { collective, algorithm, axis, inner } = operation;
  return collectiveBytes(collective, algorithm, degrees(axis), paddedBytes(operation, expanded, degrees), inner);
}

/** Bytes per rank, and how many exchanges sent them. */
export interface Sent {
  readonly bytes: number;
  readonly exchanges: number;
}

/** One kind of exchange of a list: what, over which axis or group, for which rule. */
export interface ExchangeSum extends Sent {
  readonly kind: CollectiveKind | 'send';
  /** The axis or named group that it runs over. */
  readonly over: string;
  /** The axis that it is booked on. */
  readonly axis: string;
  readonly rule: WhyRule;
}

/** What one rank of a list sends in one period. */
export interface ListBytes {
  readonly list: string;
  /** Ranks that share the list. */
  readonly ranks: number;
  readonly total: Sent;
  readonly byAxis: Readonly<Record<string, Sent>>;
  readonly byRule: Readonly<Partial<Record<WhyRule, Sent>>>;
  readonly exchanges: readonly ExchangeSum[];
}

export interface ProgramBytes {
  readonly lists: readonly ListBytes[];
  /** Over all ranks. */
  readonly totalBytes: number;
}

/** Bytes sent per rank list in one period. `lists` may be given where they are expanded already. */
export function bytesSent(
  program: Program,
  lists: readonly ExpandedList[] = program.lists.map((list) => expandList(program, list)),
): ProgramBytes {
  const degrees = degreesOf(program);
  const ranks = worldSize(program.mesh) / degrees('pipeline');
  const sums = lists.map((list) => listBytes(program, list, ranks, degrees));
  return { lists: sums, totalBytes: sums.reduce((sum, list) => sum + list.ranks * list.total.bytes, 0) };
}

function listBytes(program: Program, expanded: ExpandedList, ranks: number, degrees: Degrees): ListBytes {
  const sums = new Map<string, { -readonly [Key in keyof ExchangeSum]: ExchangeSum[Key] }>();
  const { samples, sampleOf } = replayOf(expanded);
  const rowOf = (sample: number) => {
    const { operation } = samples[sample] as ExpandedOperation;
    if (operation.kind !== 'collective' && operation.kind !== 'send') return null;
    const kind = operation.kind === 'send' ? 'send' : operation.collective;
    const over = operation.kind === 'send' ? 'pipeline' : operation.axis;
    const { rule } = operation.why;
    const key = `${kind} ${over} ${rule}`;
    const sum = sums.get(key) ?? { kind, over, axis: bookedAxis(program, over), rule, bytes: 0, exchanges: 0 };
    sums.set(key, sum);
    return { sum, bytes: sentBytes(samples[sample] as ExpandedOperation, degrees) };
  };
  const rows: (ReturnType<typeof rowOf> | undefined)[] = [];
  for (const sample of sampleOf) {
    let row = rows[sample];
    if (row === undefined) {
      row = rowOf(sample);
      rows[sample] = row;
    }
    if (row === null) continue;
    row.sum.bytes += row.bytes;
    row.sum.exchanges += 1;
  }
  const exchanges = [...sums.values()];
  return {
    list: expanded.list.name,
    ranks,
    total: exchanges.reduce(added, nothing),
    byAxis: grouped(exchanges, (each) => each.axis),
    byRule: grouped(exchanges, (each) => each.rule),
    exchanges,
  };
}

const nothing: Sent = { bytes: 0, exchanges: 0 };

const added = (sum: Sent, each: Sent): Sent => ({
  bytes: sum.bytes + each.bytes,
  exchanges: sum.exchanges + each.exchanges,
});

function grouped(
  exchanges: readonly ExchangeSum[],
  key: (each: ExchangeSum) => string,
): Readonly<Record<string, Sent>> {
  const sums: Record<string, Sent> = {};
  for (const each of exchanges) sums[key(each)] = added(sums[key(each)] ?? nothing, each);
  return sums;
}
