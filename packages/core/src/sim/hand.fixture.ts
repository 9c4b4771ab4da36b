/** Programs by hand, for rules one at a time, and the rules once more in their slowest form. */
import { createMesh } from '../mesh/index.ts';
import type {
  BufferDeclaration,
  Collective,
  Compute,
  ExpandedList,
  ExpandedOperation,
  Group,
  ListOperation,
  Operation,
  Program,
  RankList,
  Recv,
  Send,
  Wait,
  Why,
} from '../program/index.ts';
import type { OperationPrices, SimulatedStep } from './index.ts';

const why: Why = { rule: 'model' };
const split = (names: string): readonly string[] => names.split(' ').filter((name) => name !== '');
const operands = (text: string) => {
  const [reads = '', writes = ''] = text.split('->');
  return { reads: split(reads), writes: split(writes).map((buffer) => ({ buffer })) };
};

/** `compute('a b -> c')`. */
export const compute = (text: string): Compute => ({
  kind: 'compute',
  lane: 'compute',
  kernel: 'add',
  why,
  ...operands(text),
});

/** `collective('tensor', 'a -> b')`, on the lane of its axis unless another is given. */
export const collective = (axis: 'tensor' | 'pipeline' | 'data' | 'ends', text: string): Collective => ({
  kind: 'collective',
  lane: axis === 'tensor' || axis === 'ends' ? axis : axis === 'data' ? 'data.reduce' : 'control',
  collective: 'all-reduce',
  axis,
  reduce: 'sum',
  factor: 1,
  algorithm: 'ring',
  why,
  ...operands(text),
});

export const send = (peer: number, buffer: string, lane: Send['lane'] = 'act.out'): Send => ({
  kind: 'send',
  lane,
  peer,
  reads: [buffer],
  writes: [],
  why,
});

export const recv = (peer: number, buffer: string, lane: Recv['lane'] = 'act.in'): Recv => ({
  kind: 'recv',
  lane,
  peer,
  reads: [],
  writes: [{ buffer }],
  why,
});

export const wait = (buffer: string): Wait => ({ kind: 'wait', lane: 'host', reads: [buffer], writes: [], why });

/** A line, or a line with the numbers of lines that it needs. */
export type Line = Operation | readonly [Operation, ...number[]];

/** One list for each pipeline coordinate; every buffer is a scalar of one period. */
export function handProgram(lists: readonly (readonly Line[])[], groups: readonly Group[] = []): Program {
  const items = lists.map((lines) =>
    lines.map((line, index): ListOperation => {
      const [operation, ...needs] = 'kind' in line ? [line] : line;
      return { kind: 'operation', id: index + 1, operation, needs };
    }),
  );
  const names = items
    .flat()
    .flatMap(({ operation }) => [...operation.reads, ...operation.writes.map((write) => write.buffer)]);
  return {
    schema: 'meshwright.program/1',
    name: 'hand',
    mesh: createMesh({ pipeline: lists.length }),
    groups,
    layers: 0,
    microBatches: 1,
    lossScale: 1,
    optimizer: 'adamw',
    buffers: [...new Set(names)].map(scalar),
    templates: [],
    lists: items.map((each, pipeline): RankList => {
      return { name: `P${pipeline}`, pipeline, buckets: [], units: [], buffers: [], items: each };
    }),
  };
}

const scalar = (name: string): BufferDeclaration => ({
  name,
  role: 'scratch',
  dtype: 'fp32',
  dims: [],
  scope: 'period',
});

/** Seconds of operation i of list l at `seconds[l][i]`. */
export const fixed = (
  seconds: readonly (readonly number[])[],
  launchCompute = 0,
  launchExchange = 0,
): OperationPrices => ({
  duration: ({ index }, list) => seconds[list.pipeline]?.[index] ?? 0,
  launchCompute,
  launchExchange,
});

/** `[start, end]` of every operation of a list. */
export const timesOf = (step: SimulatedStep, list: number): readonly (readonly [number, number])[] =>
  Array.from(step.lists[list]?.start ?? [], (start, index) => [start, step.lists[list]?.end[index] ?? 0] as const);

/** The rules word by word: repeats until nothing moves. Instances by name; needs nothing of the simulator but its lists.
 * For programs without waits, whose exchanges along the pipeline carry each buffer once between two lists. */
export function slowTimes(step: SimulatedStep, pricing: OperationPrices): readonly Float64Array[] {
  const lists = step.lists.map(({ expanded }) => expanded);
  const ends = lists.map(({ operations }) => new Float64Array(operations.length));
  const owners = new Map<string, { list: number; index: number }[]>();
  for (const [list, { operations }] of lists.entries()) {
    for (const each of operations) {
      const key = meetingOf(step.program, each);
      if (key !== undefined) owners.set(key, [...(owners.get(key) ?? []), { list, index: each.index }]);
    }
  }
  const needs = lists.map(({ operations }) => operations.map((each) => slowNeeds(operations, each.index)));
  const issued = lists.map(({ operations }) => issueEnds(operations, pricing));
  const readyAt = (list: number, index: number): number =>
    (needs[list]?.[index] ?? []).reduce(
      (latest, need) => Math.max(latest, ends[list]?.[need] ?? 0),
      issued[list]?.[index] ?? 0,
    );
  const durationOf = (list: number, index: number): number => {
    const { operations, list: rankList } = lists[list] as ExpandedList;
    return pricing.duration(operations[index] as ExpandedOperation, rankList);
  };
  for (let moved = true; moved; ) {
    moved = false;
    for (const [list, { operations }] of lists.entries()) {
      for (const each of operations) {
        const key = meetingOf(step.program, each);
        const members = (key === undefined ? undefined : owners.get(key)) ?? [{ list, index: each.index }];
        const start = Math.max(...members.map((member) => readyAt(member.list, member.index)));
        const end = start + Math.max(...members.map((member) => durationOf(member.list, member.index)));
        if (end !== ends[list]?.[each.index]) {
          moved = true;
          (ends[list] as Float64Array)[each.index] = end;
        }
      }
    }
  }
  return ends;
}

function meetingOf(program: Program, { operation, reads, writes }: ExpandedOperation): string | undefined {
  const name = (reads[0] ?? writes[0]?.operand)?.instance.name;
  if (operation.kind === 'send' || operation.kind === 'recv') return `point to point ${name}`;
  if (operation.kind !== 'collective') return undefined;
  const along = program.groups.find((group) => group.name === operation.axis)?.along ?? operation.axis;
  return along === 'pipeline' ? `${operation.axis} ${name}` : undefined;
}

function issueEnds(operations: readonly ExpandedOperation[], pricing: OperationPrices): readonly number[] {
  let host = 0;
  return operations.map(({ operation }) => {
    host += operation.kind === 'compute' ? pricing.launchCompute : pricing.launchExchange;
    return host;
  });
}

/** What a lane of sends or receives exchanges with one neighbour is in order, whatever it exchanges with the other. */
const inOneLane = (a: ListOperation['operation'], b: ListOperation['operation']): boolean =>
  a.lane === b.lane && ('peer' in a ? a.peer : undefined) === ('peer' in b ? b.peer : undefined);

/** Scans back from an operation for everything that it must wait for. */
function slowNeeds(operations: readonly ExpandedOperation[], index: number): readonly number[] {
  const own = operations[index] as ExpandedOperation;
  const found = new Set(own.needs);
  const lane = operations.slice(0, index).findLastIndex((each) => inOneLane(each.operation, own.operation));
  if (lane >= 0) found.add(lane);
  const reads = own.reads.flatMap((read) => (read ? [read.instance.name] : []));
  const writes = own.writes.map((write) => write.operand.instance.name);
  const lastWriter = (name: string): number =>
    operations
      .slice(0, index)
      .findLastIndex((each) => each.writes.some((write) => write.operand.instance.name === name));
  for (const name of [...reads, ...writes]) if (lastWriter(name) >= 0) found.add(lastWriter(name));
  for (const name of writes) {
    const since = lastWriter(name) + 1;
    operations.slice(since, index).forEach((each, offset) => {
      if (each.reads.some((read) => read?.instance.name === name)) found.add(since + offset);
    });
  }
  return [...found];
}
