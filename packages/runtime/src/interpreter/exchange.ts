/** @file Collectives, sends and receives of a program as exchanges of the fabric: what goes in, what comes out, where. */
import { assertInvariant, assertUnreachable } from '@meshwright/core/errors';
import { rankOf } from '@meshwright/core/mesh';
import type { Collective, ExpandedOperation, Recv, Send } from '@meshwright/core/program';
import type { Elements } from '../kernels/tensor.ts';
import { type PieceMap, packPiece, pieceMap, pieceMapOf, sentMapOf, unpackPiece } from '../place/pieces.ts';
import type { Circle, TakePiece, Waiting } from '../transport/circle.ts';
import {
  allToAll,
  directAllReduce,
  ringAllGather,
  ringAllReduce,
  ringReduceScatter,
  scaled,
  shift,
} from '../transport/collectives.ts';
import { collectiveChannel, incomingChannel, ledgerName, sendChannel } from '../transport/fabric.ts';
import { halvingAllReduce } from '../transport/halves.ts';
import { type Message, receive, send } from '../transport/peers.ts';
import { tieredAllGather, tieredAllReduce, tieredAllToAll, tieredReduceScatter } from '../transport/tiers.ts';
import { treeAllReduce } from '../transport/trees.ts';
import { wireOf } from '../transport/wire.ts';
import { type Borrowed, borrowFrom } from './borrow.ts';
import { deposit, lengthOf, poisonAround, settle, valuesOf, type Window } from './cells.ts';
import { isEarly, type Machine } from './machine.ts';
import { exchangeRows } from './row-exchange.ts';

/** The windows that an exchange touches, found when it is issued. */
export interface ExchangeWindows {
  readonly read: Window | undefined;
  readonly write: Window | undefined;
  /** Counts of the rows that are exchanged. */
  readonly table: Window | undefined;
}

export const exchangeWindows = ({ cells }: Machine, { reads, writes }: ExpandedOperation): ExchangeWindows => ({
  read: reads[0] && cells.window(reads[0]),
  write: writes[0] && cells.window(writes[0].operand),
  table: reads[1] && cells.window(reads[1]),
});

/** The exchange as a generator; nothing is read before its first step. */
export function exchangeRun(machine: Machine, expanded: ExpandedOperation, windows: ExchangeWindows): Waiting {
  const { operation } = expanded;
  switch (operation.kind) {
    case 'collective':
      return runCollective(machine, expanded, operation, windows);
    case 'send':
      return runSend(machine, operation, windows.read);
    case 'recv':
      return runReceive(machine, operation, windows.write);
    default:
      throw new Error(`internal: ${operation.kind} is not an exchange.`);
  }
}

function* runCollective(
  machine: Machine,
  expanded: ExpandedOperation,
  operation: Collective,
  { read, write, table }: ExchangeWindows,
): Waiting {
  assertInvariant(read !== undefined && write !== undefined, () => `a ${operation.collective} lacks operands`);
  const plan = planOf(machine, expanded, operation, read);
  if (table) yield* exchangeRows(machine, expanded, operation, plan.circle, { read, table, write });
  else yield* runPieces(machine, expanded, operation, plan, { read, write });
  plan.borrowed.giveBack();
}

function* runPieces(
  machine: Machine,
  expanded: ExpandedOperation,
  operation: Collective,
  { map, sent, circle, borrowed: { create } }: ExchangePlan,
  { read, write }: { readonly read: Window; readonly write: Window },
): Waiting {
  const adds = !machine.lifetimes.overwrites(expanded.index, 0) && (expanded.writes[0]?.accumulate ?? false);
  const inPlace = expanded.writes[0]?.operand.instance.declaration.shardOf !== undefined;
  const whole = valuesOf(operation.collective === 'all-gather' ? write : read, create);
  const pieces = (of: PieceMap = map): readonly Elements[] =>
    Array.from({ length: of.ways }, (_, index) => packPiece(of, index, whole, create));
  const direct = operation.collective !== 'reduce-scatter' && !adds && write.spans.length === 1;
  const result = direct ? valuesOf(write) : create(operation.collective === 'reduce-scatter' ? 0 : whole.length);
  const finish = (): void => (direct ? settle(write) : deposit(write, result, adds, machine.add));
  const gather = (index: number, piece: Elements): void =>
    unpackPiece(map, index, scaled(piece, operation.factor), result);
  switch (operation.collective) {
    case 'all-gather': {
      const own = read.cell === write.cell ? packPiece(map, circle.place, whole, create) : valuesOf(read, create);
      yield* allGather(operation, circle, own, gather);
      return finish();
    }
    case 'reduce-scatter':
      yield* reduceScatter(operation, circle, pieces(), (_, piece) => {
        deposit(write, scaled(piece, operation.factor), adds, machine.add);
      });
      if (isEarly(machine) && inPlace && write.cell === read.cell) poisonAround(write);
      return;
    case 'all-reduce':
      yield* allReduce(operation, circle, pieces(), gather);
      return finish();
    case 'all-to-all':
      yield* exchangePieces(operation, circle, pieces(sent), gather);
      return finish();
    case 'shift':
      yield* shift(circle, whole, (values) => result.set(scaled(values, operation.factor)));
      return finish();
    default:
      throw new Error(`internal: collective ${operation.collective} is in no program yet.`);
  }
}

type Run<In> = (operation: Collective, circle: Circle, pieces: In, take: TakePiece) => Waiting;

const allReduce: Run<readonly Elements[]> = ({ algorithm, reduce = 'sum', inner = 1 }, circle, pieces, take) => {
  switch (algorithm) {
    case 'ring':
      return ringAllReduce(circle, pieces, reduce, take);
    case 'tree':
      return treeAllReduce(circle, pieces, reduce, take);
    case 'halving-doubling':
      return halvingAllReduce(circle, pieces, reduce, take);
    case 'hierarchical':
      return tieredAllReduce({ ...circle, inner }, pieces, reduce, take);
    case 'direct':
      return directAllReduce(circle, pieces, reduce, take);
    default:
      return assertUnreachable(algorithm);
  }
};

// Of what follows ring and direct send the same pieces to the same ranks, and trees and halves run none.
const reduceScatter: Run<readonly Elements[]> = ({ reduce = 'sum', inner }, circle, pieces, take) =>
  inner === undefined
    ? ringReduceScatter(circle, pieces, reduce, take)
    : tieredReduceScatter({ ...circle, inner }, pieces, reduce, take);

const allGather: Run<Elements> = ({ inner }, circle, own, take) =>
  inner === undefined ? ringAllGather(circle, own, take) : tieredAllGather({ ...circle, inner }, own, take);

const exchangePieces: Run<readonly Elements[]> = ({ inner }, circle, pieces, take) =>
  inner === undefined ? allToAll(circle, pieces, take) : tieredAllToAll({ ...circle, inner }, pieces, take);

/** What a collective does in every period alike. */
export interface ExchangePlan {
  readonly map: PieceMap;
  /** Of an all-to-all: how it splits what it reads. */
  readonly sent: PieceMap | undefined;
  readonly circle: Circle;
  /** Memory of one run of it. */
  readonly borrowed: Borrowed;
}

/** Rows are exchanged by their counts. */
const noPieces: PieceMap = pieceMap([], 1, 1, 1);

function planOf(machine: Machine, expanded: ExpandedOperation, operation: Collective, read: Window): ExchangePlan {
  const known = machine.plans.get(expanded.index);
  if (known) return known;
  const borrowed = borrowFrom(machine.engine, read.cell.dtype);
  const rows = expanded.reads.length > 1;
  const map = rows ? noPieces : pieceMapOf(expanded, operation, machine.seat);
  const sent =
    !rows && operation.collective === 'all-to-all' ? sentMapOf(expanded, operation, machine.seat) : undefined;
  const circle = circleOf(machine, operation, map, read, borrowed);
  const plan: ExchangePlan = { map, sent, circle, borrowed };
  machine.plans.set(expanded.index, plan);
  return plan;
}

function circleOf(machine: Machine, operation: Collective, map: PieceMap, read: Window, { create }: Borrowed): Circle {
  const { seat, port, options } = machine;
  const members = seat.members(operation.axis);
  const name = collectiveChannel(operation.lane, operation.axis);
  return {
    port,
    channels: members.map((rank) => port.channel(rank, name)),
    place: members.indexOf(seat.rank),
    pieceElements: map.pieceElements,
    wire: wireOf(read.cell.dtype, options.arithmetic),
    key: ledgerKey(machine, operation.collective, operation.axis, operation.why.rule),
    create,
    add: machine.add,
  };
}

function ledgerKey({ fabric }: Machine, kind: string, over: string, rule: string): number {
  const name = ledgerName(kind, over, rule);
  return fabric.plan.ledger.findIndex((key) => ledgerName(key.kind, key.over, key.rule) === name);
}

/** The rank at a pipeline coordinate that shares all others with this one. */
const peerOf = ({ program, seat }: Machine, pipeline: number): number =>
  rankOf(program.mesh, { ...seat.coordinate, pipeline });

function* runSend(machine: Machine, operation: Send, read: Window | undefined): Waiting {
  assertInvariant(read !== undefined, () => 'a send without a buffer');
  const { port, seat } = machine;
  const message: Message = {
    port,
    channel: port.channel(seat.rank, sendChannel(operation.lane, operation.peer)),
    wire: wireOf(read.cell.dtype, machine.options.arithmetic),
    tag: operation.reads[0] ?? '',
    peer: peerOf(machine, operation.peer),
  };
  yield* send(message, valuesOf(read), ledgerKey(machine, 'send', 'pipeline', operation.why.rule));
}

function* runReceive(machine: Machine, operation: Recv, write: Window | undefined): Waiting {
  assertInvariant(write !== undefined, () => 'a receive without a buffer');
  const { port, seat } = machine;
  const peer = peerOf(machine, operation.peer);
  const message: Message = {
    port,
    channel: port.channel(peer, incomingChannel(operation.lane, seat.coordinate.pipeline)),
    wire: wireOf(write.cell.dtype, machine.options.arithmetic),
    tag: operation.writes[0]?.buffer ?? '',
    peer,
  };
  if (write.spans.length === 1) {
    yield* receive(message, valuesOf(write));
    return settle(write);
  }
  const { create, giveBack } = borrowFrom(machine.engine, write.cell.dtype);
  const values = create(lengthOf(write.spans));
  yield* receive(message, values);
  deposit(write, values, false);
  giveBack();
}
