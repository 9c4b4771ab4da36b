/** @file Protocol buffers as bytes: the few wire types that traces need. Knows no schema: callers number the fields.
 * Wire format: protobuf.dev, "Encoding" ([protobuf-wire] in docs/sources.md).
 */
import { type ByteSink, createByteSink } from './sink.ts';
import { utf8Length } from './utf8.ts';

/** Writes fields one after another; messages inside messages are opened and closed. */
export interface ProtoWriter {
  /** A whole number from 0 to 2^53 as a varint; also what enums and booleans are. */
  uint(field: number, value: number): void;
  /** A whole number from 0 to 2^53 in eight bytes. */
  fixed64(field: number, value: number): void;
  string(field: number, text: string): void;
  /** Begins a message in a field; give what this returns to `close`. */
  open(field: number): number;
  close(mark: number): void;
  /** Begins a message that stands alone, its length before it. */
  openDelimited(): number;
  /** Bytes written since the last `take`. */
  readonly length: number;
  /** What was written, as a copy; the writer is empty afterwards. Not while a message is open. */
  take(): Uint8Array;
}

const VARINT = 0;
const FIXED64 = 1;
const DELIMITED = 2;

/** An empty writer. */
export function createProtoWriter(): ProtoWriter {
  const sink = createByteSink();
  const header = (field: number, type: number): void => putVarint(sink, field * 8 + type);
  const begin = (): number => {
    sink.put(0);
    return sink.length;
  };
  return {
    uint: (field, value) => {
      header(field, VARINT);
      putVarint(sink, value);
    },
    fixed64: (field, value) => {
      header(field, FIXED64);
      sink.int32(value | 0);
      sink.int32(Math.floor(value / 2 ** 32));
    },
    string: (field, text) => {
      header(field, DELIMITED);
      putVarint(sink, utf8Length(text));
      sink.text(text);
    },
    open: (field) => {
      header(field, DELIMITED);
      return begin();
    },
    openDelimited: begin,
    close: (mark) => closeMessage(sink, mark),
    get length() {
      return sink.length;
    },
    take: sink.take,
  };
}

function putVarint({ put }: ByteSink, value: number): void {
  let rest = value;
  for (; rest >= 2 ** 31; rest = Math.floor(rest / 128)) put((rest % 128) | 128);
  for (; rest > 127; rest >>>= 7) put((rest & 127) | 128);
  put(rest);
}

/** One byte before the message waits for its length; a longer length moves the message. */
function closeMessage(sink: ByteSink, mark: number): void {
  let rest = sink.length - mark;
  let wider = 0;
  for (let left = rest; left > 127; left = Math.floor(left / 128)) wider++;
  if (wider > 0) sink.insert(mark, wider);
  for (let at = mark - 1; ; at++, rest = Math.floor(rest / 128)) {
    sink.set(at, rest > 127 ? (rest % 128) | 128 : rest);
    if (rest <= 127) return;
  }
}
