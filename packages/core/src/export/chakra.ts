/** @file A step as Chakra execution traces, one file for each rank: what the simulators around that format replay. Fields,
 * node types and attributes: [chakra] in docs/sources.md. Sizes of collectives are those of one rank's input, as there.
 */
import {
  type CollectiveKind,
  degreesOf,
  type ExpandedOperation,
  holdsHost,
  type Operation,
  type Program,
  paddedBytes,
  touchedBytes,
  workOf,
} from '../program/index.ts';
import { createGroups, type Groups } from './chakra-groups.ts';
import { type Waits, waitsOf } from './chakra-waits.ts';
import { CHUNK_BYTES } from './chunks.ts';
import { type Flows, flowsOf } from './flows.ts';
import { wordsOf } from './names.ts';
import { createProtoWriter, type ProtoWriter } from './protobuf.ts';
import { type OperationTimes, rankOnStage, type TracedRank, type TracedStep, takesNoTime, timesOf } from './traced.ts';

/** Version of the schema that is written. */
const VERSION = '0.0.4';
const NODE = { id: 1, name: 2, type: 3, control: 4, data: 5, start: 6, duration: 7, attribute: 10 } as const;
const VALUE = { int32: 7, int64: 9, uint64: 13, bool: 27, string: 29 } as const;
const COMPUTE = 4;
const SEND = 5;
const RECEIVE = 6;
const COLLECTIVE = 7;
const collectives: Readonly<Record<CollectiveKind, number>> = {
  'all-reduce': 0,
  'all-gather': 2,
  broadcast: 5,
  'all-to-all': 6,
  // Chakra has no name for it: a message to the neighbour by everybody is the all-to-all of which one piece is filled.
  shift: 6,
  'reduce-scatter': 7,
};

/** Writes traces of ranks; what lists share is worked out once. */
export interface ChakraTraces {
  /** The trace of one rank in pieces of about a megabyte. */
  rank(rank: TracedRank): Generator<Uint8Array>;
  /** Ranks of each group that a collective names, for the file of groups beside the traces. */
  readonly groups: Readonly<Record<string, readonly number[]>>;
}

/** The traces of a step. */
export function chakraTraces(step: TracedStep): ChakraTraces {
  const { program } = step;
  const groups = createGroups(program);
  for (const list of step.lists) for (const { operation } of list.operations) groups.meet(operation);
  const shared: Shared = {
    step,
    groups,
    words: wordsOf(program),
    work: rememberWork(program),
    flows: flowsOf(step.lists),
    waits: step.lists.map(waitsOf),
  };
  const times = timesOf(step);
  return {
    groups: groups.all,
    rank: (rank) => traceOf(shared, rank, times.get(rank.timedAs)),
  };
}

interface Shared {
  readonly step: TracedStep;
  readonly groups: Groups;
  readonly words: ReturnType<typeof wordsOf>;
  readonly work: (expanded: ExpandedOperation) => Amounts;
  readonly flows: Flows;
  readonly waits: readonly Waits[];
}

interface Amounts {
  readonly flops: number;
  readonly bytes: number;
}

function* traceOf(shared: Shared, rank: TracedRank, times: OperationTimes | undefined): Generator<Uint8Array> {
  const writer = createProtoWriter();
  const metadata = writer.openDelimited();
  writer.string(1, VERSION);
  writer.close(metadata);
  const list = shared.step.lists[rank.list];
  const waits = shared.waits[rank.list];
  if (list === undefined || waits === undefined) return;
  for (const expanded of list.operations) {
    if (takesNoTime(expanded.operation)) continue;
    const { index } = expanded;
    const node = writer.openDelimited();
    writer.uint(NODE.id, index + 1);
    writer.string(NODE.name, shared.words(expanded).name);
    writer.uint(NODE.type, typeOf(expanded.operation));
    for (const of of waits.control[index] ?? []) writer.uint(NODE.control, of + 1);
    for (const of of waits.data[index] ?? []) writer.uint(NODE.data, of + 1);
    if (times !== undefined) writeTimes(writer, times, index);
    writeAttributes(shared, writer, rank, expanded);
    writer.close(node);
    if (writer.length >= CHUNK_BYTES) yield writer.take();
  }
  yield writer.take();
}

/** Whole microseconds; what takes any time takes one at least. */
function writeTimes(writer: ProtoWriter, { start, end }: OperationTimes, index: number): void {
  const from = start[index] as number;
  const duration = (end[index] as number) - from;
  writer.uint(NODE.start, Math.round(from / 1000));
  writer.uint(NODE.duration, duration > 0 ? Math.max(1, Math.round(duration / 1000)) : 0);
}

function writeAttributes(shared: Shared, writer: ProtoWriter, rank: TracedRank, expanded: ExpandedOperation): void {
  const { program } = shared.step;
  const { operation, index } = expanded;
  const write = (name: string, field: number, value: number | string): void => {
    const attribute = writer.open(NODE.attribute);
    writer.string(1, name);
    if (typeof value === 'string') writer.string(field, value);
    else writer.uint(field, value);
    writer.close(attribute);
  };
  write('is_cpu_op', VALUE.bool, holdsHost(operation) ? 1 : 0);
  switch (operation.kind) {
    case 'compute': {
      const { flops, bytes } = shared.work(expanded);
      write('num_ops', VALUE.int64, flops);
      write('tensor_size', VALUE.uint64, bytes);
      return;
    }
    case 'collective':
      write('comm_type', VALUE.int64, collectives[operation.collective]);
      write('comm_size', VALUE.int64, inputBytes(program, expanded));
      write('pg_name', VALUE.string, shared.groups.of(operation.axis, rank.rank));
      return;
    case 'send':
    case 'recv': {
      const peer = rankOnStage(program, rank.rank, operation.peer);
      const sends = operation.kind === 'send';
      write('comm_size', VALUE.int64, inputBytes(program, expanded));
      write('comm_src', VALUE.int32, sends ? rank.rank : peer);
      write('comm_dst', VALUE.int32, sends ? peer : rank.rank);
      write('comm_tag', VALUE.int32, shared.flows.of[rank.list]?.[index] ?? 0);
      return;
    }
    default:
  }
}

/** Bytes that one rank puts in; of a receive those that it gets. */
function inputBytes(program: Program, expanded: ExpandedOperation): number {
  const degrees = degreesOf(program);
  const { operation, reads, writes } = expanded;
  if (operation.kind === 'collective') {
    const bytes = paddedBytes(operation, expanded, degrees);
    return operation.collective === 'all-gather' ? bytes / degrees(operation.axis) : bytes;
  }
  const operand = operation.kind === 'recv' ? writes[0]?.operand : reads[0];
  return operand === undefined ? 0 : touchedBytes(operand, degrees);
}

function typeOf({ kind }: Operation): number {
  if (kind === 'collective') return COLLECTIVE;
  return kind === 'send' ? SEND : kind === 'recv' ? RECEIVE : COMPUTE;
}

/** FLOPs and bytes of kernels, worked out once for each operation of a template: its shapes do not change with the call. */
function rememberWork(program: Program): (expanded: ExpandedOperation) => Amounts {
  const degrees = degreesOf(program);
  const known = new Map<Operation, Map<string, Amounts>>();
  return (expanded) => {
    const rows = known.get(expanded.operation) ?? new Map<string, Amounts>();
    known.set(expanded.operation, rows);
    const shape = [...expanded.reads, ...expanded.writes.map(({ operand }) => operand)]
      .map((operand) => operand?.dims.map(({ size }) => size).join('x') ?? '')
      .join(' ');
    const found = rows.get(shape) ?? amounts(workOf(expanded, degrees));
    rows.set(shape, found);
    return found;
  };
}

const amounts = ({
  flops,
  bytesRead,
  bytesWritten,
}: Readonly<Record<'flops' | 'bytesRead' | 'bytesWritten', number>>): Amounts => ({
  flops: Math.round(flops),
  bytes: Math.round(bytesRead + bytesWritten),
});
