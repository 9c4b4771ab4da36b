/** @file Python's pickle, protocol 2, as far as plain data goes: only opcodes that both `pickle.load` and PyTorch's memory
 * viewer know. Opcodes: [pickle] in docs/sources.md.
 */
import { type ByteSink, createByteSink } from './sink.ts';
import { utf8Length } from './utf8.ts';

/** Plain data. Lists and dictionaries become those of Python. */
export type PickleValue =
  | null
  | boolean
  | number
  | string
  | PickleTuple
  | PickleOnce
  | readonly PickleValue[]
  | { readonly [key: string]: PickleValue };

/** Two values as a tuple of Python. */
export class PickleTuple {
  readonly first: PickleValue;
  readonly second: PickleValue;
  constructor(first: PickleValue, second: PickleValue) {
    this.first = first;
    this.second = second;
  }
}

/** A value that is written the first time and named after that. */
export class PickleOnce {
  readonly value: PickleValue;
  constructor(value: PickleValue) {
    this.value = value;
  }
}

/** Writes values one after another; long lists and dictionaries are opened and closed. */
export interface PickleWriter {
  value(value: PickleValue): void;
  /** Begins a list; what is written until `closeList` are its items, in pieces that `nextItems` ends. */
  openList(): void;
  /** Between items: Python takes them in pieces of about a thousand. */
  nextItems(): void;
  closeList(): void;
  /** Begins a dictionary; keys and values are written in turns. */
  openDictionary(): void;
  closeDictionary(): void;
  /** Ends the pickle. */
  stop(): void;
  /** Bytes written since the last `take`. */
  readonly length: number;
  /** What was written since the last `take`. */
  take(): Uint8Array;
}

const opcodes = {
  protocol: 0x80,
  stop: 0x2e,
  mark: 0x28,
  none: 0x4e,
  true: 0x88,
  false: 0x89,
  int8: 0x4b,
  int16: 0x4d,
  int32: 0x4a,
  long: 0x8a,
  float: 0x47,
  text: 0x58,
  list: 0x5d,
  appends: 0x65,
  dictionary: 0x7d,
  setItems: 0x75,
  tuple: 0x86,
  put: 0x71,
  longPut: 0x72,
  get: 0x68,
  longGet: 0x6a,
} as const;
const PROTOCOL = 2;

/** A writer that has begun a pickle. */
export function createPickleWriter(): PickleWriter {
  const sink = createByteSink();
  const write = createValueWriter(sink);
  const put = (...codes: readonly number[]): void => codes.forEach(sink.put);
  put(opcodes.protocol, PROTOCOL);
  return {
    value: write,
    openList: () => put(opcodes.list, opcodes.mark),
    nextItems: () => put(opcodes.appends, opcodes.mark),
    closeList: () => put(opcodes.appends),
    openDictionary: () => put(opcodes.dictionary, opcodes.mark),
    closeDictionary: () => put(opcodes.setItems),
    stop: () => put(opcodes.stop),
    get length() {
      return sink.length;
    },
    take: sink.take,
  };
}

/** Writes values, and remembers keys and what is written once. */
function createValueWriter(sink: ByteSink): (value: PickleValue) => void {
  const { put, int32 } = sink;
  const memo = new Map<string | PickleOnce, number>();
  const place = (short: number, long: number, number: number): void => {
    put(number < 256 ? short : long);
    if (number < 256) put(number);
    else int32(number);
  };
  /** Whether the value was written before, and is named now. */
  const recalled = (key: string | PickleOnce): boolean => {
    const number = memo.get(key);
    if (number !== undefined) place(opcodes.get, opcodes.longGet, number);
    return number !== undefined;
  };
  const once = (key: string | PickleOnce, fresh: () => void): void => {
    if (recalled(key)) return;
    fresh();
    place(opcodes.put, opcodes.longPut, memo.size);
    memo.set(key, memo.size);
  };
  const text = (value: string): void => {
    put(opcodes.text);
    int32(utf8Length(value));
    sink.text(value);
  };
  const write = (value: PickleValue): void => {
    if (value === null) put(opcodes.none);
    else if (typeof value === 'boolean') put(value ? opcodes.true : opcodes.false);
    else if (typeof value === 'number') writeNumber(sink, value);
    else if (typeof value === 'string') text(value);
    else if (value instanceof PickleTuple) {
      write(value.first);
      write(value.second);
      put(opcodes.tuple);
    } else if (value instanceof PickleOnce) once(value, () => write(value.value));
    else writeContainer(value as Container);
  };
  const writeContainer = (value: Container): void => {
    const list = isList(value);
    put(list ? opcodes.list : opcodes.dictionary);
    put(opcodes.mark);
    if (list) for (const each of value) write(each);
    else {
      for (const key of Object.keys(value)) {
        once(key, () => text(key));
        write(value[key] ?? null);
      }
    }
    put(list ? opcodes.appends : opcodes.setItems);
  };
  return write;
}

type Container = readonly PickleValue[] | Readonly<Record<string, PickleValue>>;

const isList = (value: object): value is readonly PickleValue[] => Array.isArray(value);

function writeNumber({ put, int32 }: ByteSink, value: number): void {
  if (!Number.isSafeInteger(value)) {
    put(opcodes.float);
    for (const byte of new Uint8Array(new Float64Array([value]).buffer).reverse()) put(byte);
  } else if (value >= 0 && value < 65_536) {
    put(value < 256 ? opcodes.int8 : opcodes.int16);
    put(value & 255);
    if (value > 255) put(value >> 8);
  } else if (value >= -(2 ** 31) && value < 2 ** 31) {
    put(opcodes.int32);
    int32(value);
  } else {
    put(opcodes.long);
    put(8);
    int32(value | 0);
    int32(Math.floor(value / 2 ** 32));
  }
}
