/** @file What each list allocates and gives back, as the snapshot that PyTorch's memory viewer opens (pytorch.org/memory_viz):
 * one device for each list. Keys and actions: [memory-viz] in docs/sources.md.
 *
 * Events stand in the order of the list, as the host issues them, which is how PyTorch's allocator sees them: so the
 * highest point of the viewer is the peak of the ledger, whatever the durations. Resident buffers were there before.
 */
import { degreesOf, type ExpandedList, type ExpandedOperation, type LiveRange, lifetimesOf } from '../program/index.ts';
import { type Addresses, type Block, createAddresses } from './addresses.ts';
import { CHUNK_BYTES } from './chunks.ts';
import { type SliceWords, wordsOf } from './names.ts';
import { createPickleWriter, PickleOnce, PickleTuple, type PickleValue, type PickleWriter } from './pickle.ts';
import { type OperationTimes, type TracedStep, timesOf } from './traced.ts';

/** Where the addresses of a device begin: far enough from zero to look like addresses. */
const BASE = 2 ** 40;
/** Items that are handed to Python at a time. */
const BATCH = 1000;

/** The pickled snapshot in pieces of about a megabyte. */
export function* memorySnapshot(step: TracedStep): Generator<Uint8Array> {
  const writer = createPickleWriter();
  const times = timesOf(step);
  const words = wordsOf(step.program);
  const segments: PickleValue[] = [];
  writer.openDictionary();
  writer.value('device_traces');
  writer.openList();
  for (const [device, list] of step.lists.entries()) {
    const timedAs = step.ranks.find((rank) => rank.list === device)?.timedAs ?? -1;
    const trace = createDeviceTrace(writer, list, times.get(timedAs), words);
    const { ranges, residents } = lifetimesOf(list, degreesOf(step.program));
    const held = residents
      .filter(({ bytes }) => bytes > 0)
      .map((range) => ({ range, block: trace.addresses.take(range.bytes) }));
    writer.openList();
    yield* trace.events(ranges.filter(({ bytes }) => bytes > 0));
    writer.closeList();
    segments.push(segmentOf(device, list, trace.addresses, held));
  }
  writer.closeList();
  writer.value('segments');
  writer.value(segments);
  writer.value('allocator_settings');
  writer.value({});
  writer.closeDictionary();
  writer.stop();
  yield writer.take();
}

interface DeviceTrace {
  readonly addresses: Addresses;
  events(ranges: readonly LiveRange[]): Generator<Uint8Array>;
}

function createDeviceTrace(
  writer: PickleWriter,
  list: ExpandedList,
  times: OperationTimes | undefined,
  words: (expanded: ExpandedOperation) => SliceWords,
): DeviceTrace {
  const addresses = createAddresses(BASE);
  const framesOf = createFrames(list, words);
  const blocks = new Map<LiveRange, Block>();
  let clock = 0;
  let count = 0;
  const event = (action: keyof typeof actions, block: Block, nanoseconds: number, frames: PickleValue): void => {
    clock = Math.max(clock, Math.round(nanoseconds / 1000));
    const { address: addr, size } = block;
    writer.value({ action: actions[action], addr, size, stream: 0, time_us: clock, frames });
    count += 1;
  };
  const allocate = (range: LiveRange): void => {
    const block = addresses.take(range.bytes);
    blocks.set(range, block);
    event('alloc', block, times?.start[range.first] ?? 0, framesOf(range));
  };
  const giveBack = (range: LiveRange): void => {
    const block = blocks.get(range) as Block;
    const time = times?.end[range.last] ?? 0;
    event('free_requested', block, time, none);
    event('free_completed', block, time, none);
    addresses.giveBack(block);
    blocks.delete(range);
  };
  function* events(ranges: readonly LiveRange[]): Generator<Uint8Array> {
    const ends = [...ranges].sort((one, other) => one.last - other.last);
    let freed = 0;
    for (const range of ranges) {
      for (; (ends[freed]?.last ?? range.first) < range.first; freed++) giveBack(ends[freed] as LiveRange);
      allocate(range);
      if (count < BATCH) continue;
      writer.nextItems();
      count = 0;
      if (writer.length >= CHUNK_BYTES) yield writer.take();
    }
    for (const range of ends.slice(freed)) giveBack(range);
  }
  return { addresses, events };
}

/** Who allocates: the buffer with its line, then what its first writer does and why. */
function createFrames(
  list: ExpandedList,
  words: (expanded: ExpandedOperation) => SliceWords,
): (range: LiveRange) => PickleValue {
  const sentences = new Map<SliceWords, PickleOnce>();
  return ({ instance, first }) => {
    const expanded = list.operations[first] as ExpandedOperation;
    const known = words(expanded);
    const sentence = sentences.get(known) ?? new PickleOnce(frame(known.name, 0, known.why));
    sentences.set(known, sentence);
    return [frame(list.list.name, expanded.item, `${instance.name} (${instance.declaration.role})`), sentence];
  };
}

/** Words of events, written once. */
const actions = {
  alloc: new PickleOnce('alloc'),
  free_requested: new PickleOnce('free_requested'),
  free_completed: new PickleOnce('free_completed'),
} as const;
/** Who gives memory back is who took it. */
const none = new PickleOnce([]);

const frame = (filename: string, line: number, name: string): { [key: string]: PickleValue } => ({
  filename,
  line,
  name,
});

interface Held {
  readonly range: LiveRange;
  readonly block: Block;
}

/** One segment that holds all addresses of a device, as it is after the step: residents, and free blocks. */
function segmentOf(device: number, { list }: ExpandedList, addresses: Addresses, held: readonly Held[]): PickleValue {
  const residents = new Map(held.map(({ block, range }) => [block, range]));
  const bytes = held.reduce((sum, { block }) => sum + block.size, 0);
  return {
    device,
    address: BASE,
    total_size: addresses.size,
    allocated_size: bytes,
    active_size: bytes,
    requested_size: bytes,
    stream: 0,
    segment_type: 'large',
    segment_pool_id: new PickleTuple(0, 0),
    is_expandable: false,
    frames: [],
    blocks: addresses.blocks.map((block): PickleValue => {
      const range = residents.get(block);
      const name = range === undefined ? '' : `${range.instance.name} (${range.instance.declaration.role}, resident)`;
      return {
        address: block.address,
        size: block.size,
        requested_size: range === undefined ? 0 : block.size,
        state: range === undefined ? 'inactive' : 'active_allocated',
        frames: range === undefined ? [] : [frame(list.name, 0, name)],
      };
    }),
  };
}
