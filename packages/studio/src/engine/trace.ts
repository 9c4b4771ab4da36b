/** @file Traces that are dropped on the page: trace events as profilers and `meshwright simulate --trace` write them, and the run
 * of `meshwright run --json`, as a timeline of their own. Nothing is compared with the plan: the trace may be of anything.
 */
import { type TimelineDetail, type TimelineKind, timelineKinds } from './timeline.ts';

/** A slice as it was read. Nanoseconds. */
interface ReadSlice {
  readonly rank: number;
  readonly lane: string;
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** The timeline of a trace; text says why there is none. */
export function traceDetail(json: unknown): TimelineDetail | string {
  const slices =
    isMapping(json) && Array.isArray(json['traceEvents']) ? eventSlices(json['traceEvents']) : runSlices(json);
  if (slices.length === 0) return 'it has no operation with a beginning and an end';
  const nested = byDepth(slices);
  const lanes = [...new Set(nested.map(({ lane }) => lane))];
  if (lanes.length > MOST_LANES)
    return `it has ${lanes.length} lanes of different names, and ${MOST_LANES} can be shown`;
  return detailOf(nested, lanes);
}

/** Lanes that a number of one byte tells apart. */
const MOST_LANES = 256;

/** Complete events, and pairs of begin and end. Times of trace events are microseconds. */
function eventSlices(events: readonly unknown[]): readonly ReadSlice[] {
  const names = new Map<string, string>();
  const open = new Map<string, { readonly name: string; readonly at: number }[]>();
  const found: { pid: unknown; tid: unknown; name: string; start: number; end: number }[] = [];
  for (const event of events) {
    if (!isMapping(event)) continue;
    const { ph, pid, tid, ts, dur, name, args } = event;
    const key = `${String(pid)} ${String(tid)}`;
    if (ph === 'M' && name === 'thread_name' && isMapping(args)) names.set(key, String(args['name']));
    else if (ph === 'X' && isTime(ts) && isTime(dur)) {
      found.push({ pid, tid, name: String(name), start: ts * 1e3, end: (ts + dur) * 1e3 });
    } else if (ph === 'B' && isTime(ts)) {
      open.set(key, [...(open.get(key) ?? []), { name: String(name), at: ts }]);
    } else if (ph === 'E' && isTime(ts)) {
      const begun = open.get(key)?.pop();
      if (begun) found.push({ pid, tid, name: begun.name, start: begun.at * 1e3, end: ts * 1e3 });
    }
  }
  const processes = [...new Set(found.map(({ pid }) => pid))];
  return found.map(({ pid, tid, name, start, end }) => ({
    rank:
      typeof pid === 'number' && Number.isSafeInteger(pid) && pid >= 0 && pid < 2 ** 32 ? pid : processes.indexOf(pid),
    lane: names.get(`${String(pid)} ${String(tid)}`) ?? `thread ${String(tid)}`,
    name,
    start,
    end,
  }));
}

/** The columns of a run. Their operations have numbers and lanes, no names. */
function runSlices(json: unknown): readonly ReadSlice[] {
  const columns = isMapping(json) && isMapping(json['timeline']) ? json['timeline'] : {};
  const { lanes, rank, lane, operation, start, end } = columns;
  const arrays = [lanes, rank, lane, operation, start, end];
  if (!arrays.every((each): each is unknown[] => Array.isArray(each))) return [];
  const at = (column: unknown, index: number): number => Number((column as readonly unknown[])[index]);
  return (start as readonly unknown[]).flatMap((_, index): readonly ReadSlice[] => {
    const name = String((lanes as readonly unknown[])[at(lane, index)] ?? 'lane');
    const slice = { rank: at(rank, index), start: at(start, index), end: at(end, index) };
    if (!Object.values(slice).every((value) => isTime(value))) return [];
    return [{ ...slice, lane: name, name: `operation ${at(operation, index)} on ${name}` }];
  });
}

/** What runs within another slice of its lane stands on a lane below. */
function byDepth(slices: readonly ReadSlice[]): readonly ReadSlice[] {
  const sorted = slices.toSorted((a, b) => a.start - b.start || b.end - a.end);
  const stacks = new Map<string, number[]>();
  return sorted.map((slice) => {
    const key = `${slice.rank} ${slice.lane}`;
    const open = (stacks.get(key) ?? []).filter((end) => end > slice.start);
    stacks.set(key, [...open, slice.end]);
    return open.length === 0 ? slice : { ...slice, lane: `${slice.lane} \u203a ${open.length}` };
  });
}

function detailOf(slices: readonly ReadSlice[], lanes: readonly string[]): TimelineDetail {
  const first = slices[0]?.start ?? 0;
  const whys = [...new Set(slices.map(({ name }) => name))];
  const whyAt = new Map(whys.map((name, index) => [name, index]));
  const laneAt = new Map(lanes.map((name, index) => [name, index]));
  const from = (value: (slice: ReadSlice) => number): Iterable<number> => slices.map(value);
  return {
    seconds: slices.reduce((last, { end }) => Math.max(last, end - first), 0) / 1e9,
    lanes,
    ranks: [...new Set(slices.map(({ rank }) => rank))].sort((a, b) => a - b),
    alike: 1,
    rank: Uint32Array.from(from(({ rank }) => rank)),
    lane: Uint8Array.from(from(({ lane }) => laneAt.get(lane) ?? 0)),
    start: Float64Array.from(from(({ start }) => start - first)),
    end: Float64Array.from(from(({ end }) => end - first)),
    kind: Uint8Array.from(from(({ name, lane }) => timelineKinds.indexOf(kindOf(`${name} ${lane}`)))),
    kinds: timelineKinds,
    why: Uint32Array.from(from(({ name }) => whyAt.get(name) ?? 0)),
    whys,
    critical: new Uint32Array(0),
    partner: new Int32Array(slices.length).fill(-1),
    idle: [],
    note: '',
  };
}

/** A trace does not say what its operations are for: their names do. */
function kindOf(words: string): TimelineKind {
  if (/all.?reduce|all.?gather|reduce.?scatter|all.?to.?all|broadcast|nccl/i.test(words)) return 'collective';
  if (/send|recv|receive|memcpy/i.test(words)) return 'send';
  if (/adam|optimi[sz]er|norm and/i.test(words)) return 'optimizer';
  if (/backward|bwd|grad/i.test(words)) return 'backward';
  return /forward|fwd|compute|kernel|gemm|matmul|stream|operation/i.test(words) ? 'forward' : 'host';
}

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;

const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
