/** @file A step as Chrome's JSON trace, for viewers that do not read Perfetto's own format: complete events in
 * microseconds with three decimals, so nanoseconds stay exact. Format: [chrome-trace] in docs/sources.md.
 */
import type { ExpandedOperation } from '../program/index.ts';
import { CHUNK_BYTES } from './chunks.ts';
import { countersOf } from './counters.ts';
import { flowsOf } from './flows.ts';
import { wordsOf } from './names.ts';
import { counterName, threadName } from './perfetto.ts';
import { flowNumber, type TracedStep, tracksOf } from './traced.ts';

/** The trace as text, in pieces of about a megabyte. */
export function* chromeTrace(step: TracedStep): Generator<string> {
  let text = '{"displayTimeUnit":"ms","traceEvents":[\n';
  let first = true;
  for (const event of eventsOf(step)) {
    text += first ? event : `,\n${event}`;
    first = false;
    if (text.length < CHUNK_BYTES) continue;
    yield text;
    text = '';
  }
  yield `${text}\n]}\n`;
}

function* eventsOf(step: TracedStep): Generator<string> {
  const words = wordsOf(step.program);
  const flows = flowsOf(step.lists);
  const tracks = tracksOf(step);
  const counters = countersOf(step);
  const { timeline } = step;
  const hosts = new Set<number>();
  let thread = 0;
  for (const rank of step.ranks) {
    const process = rank.host + 1;
    if (!hosts.has(rank.host)) yield metadata('process_name', process, 0, `host ${rank.host}`);
    hosts.add(rank.host);
    for (const track of tracks.get(rank.timedAs) ?? []) {
      thread += 1;
      yield metadata('thread_name', process, thread, threadName(step, rank, track));
      const place = `"pid":${process},"tid":${thread}`;
      for (const slice of track.slices) {
        const expanded = step.lists[rank.list]?.operations[timeline.operation[slice] as number] as ExpandedOperation;
        const { name, category, why, block } = words(expanded);
        const start = timeline.start[slice] as number;
        const duration = microseconds((timeline.end[slice] as number) - start);
        const arguments_ = JSON.stringify({ why, block, 'micro-batch': expanded.microBatch });
        const times = `"ts":${microseconds(start)},"dur":${duration}`;
        yield `{"ph":"X","name":"${name}","cat":"${category}",${place},${times},"args":${arguments_}}`;
        const pair = flows.of[rank.list]?.[expanded.index] ?? -1;
        if (pair < 0) continue;
        const ends = expanded.operation.kind === 'send' ? '"ph":"s"' : '"ph":"f","bp":"e"';
        const number = flowNumber(step.program, rank, pair);
        yield `{${ends},"name":"transfer","cat":"transfer","id":${number},${place},"ts":${microseconds(start)}}`;
      }
    }
    for (const counter of counters(rank)) {
      const name = JSON.stringify(counterName(step, rank, counter));
      for (const [index, at] of counter.time.entries()) {
        const args = `{"${counter.unit}":${counter.value[index]}}`;
        yield `{"ph":"C","name":${name},"pid":${process},"ts":${microseconds(at)},"args":${args}}`;
      }
    }
  }
}

const metadata = (name: string, process: number, thread: number, value: string): string =>
  JSON.stringify({ ph: 'M', name, pid: process, tid: thread, args: { name: value } });

/** Whole nanoseconds as microseconds without loss: `1234.567`. */
function microseconds(nanoseconds: number): string {
  const rest = nanoseconds % 1000;
  const whole = (nanoseconds - rest) / 1000;
  return rest === 0 ? `${whole}` : `${whole}.${rest.toString().padStart(3, '0')}`;
}
