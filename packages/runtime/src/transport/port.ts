/** @file One rank's end of the fabric: bells, failure, and its own and others' channels. */
import { assertInvariant } from '@meshwright/core/errors';
import type { Move } from '@meshwright/core/timeline';
import {
  BEGUN_WORD,
  bellWord,
  type ChannelPlace,
  FAILED_WORD,
  type FabricMemory,
  type FabricPlan,
  progressWord,
} from './fabric.ts';

/** Another rank has failed, so this one stops. */
export class StoppedError extends Error {
  constructor() {
    super('another rank stopped the run');
    this.name = 'StoppedError';
  }
}

/** A channel of some rank in shared memory. */
export interface Channel {
  readonly rank: number;
  readonly memory: SharedArrayBuffer;
  readonly offset: number;
  /** How many stages of exchanges the rank has posted here since the run began. */
  posted(): number;
  post(): void;
  /** How many messages the peer has taken from here (sends only). */
  consumed(): number;
  consume(): void;
  /** What is sent (sends only): the hash of the buffer's name, and the ledger key that its bytes are counted under. */
  label(): { readonly tag: number; readonly key: number };
  setLabel(tag: number, key: number): void;
}

export interface Port {
  readonly rank: number;
  /** A channel by its rank and name. */
  channel(rank: number, name: string): Channel;
  ring(ranks: readonly number[]): void;
  bell(): number;
  /** Sleeps until the bell differs from `seen`, or until the time is over. */
  sleep(seen: number, milliseconds: number): 'woken' | 'timed-out';
  /** Counts bytes as sent by `rank` under a key of the ledger. */
  count(rank: number, key: number, bytes: number): void;
  /** Bytes counted by this port since the last call, by key of the ledger. */
  taken(): Float64Array;
  /** What is counted from now on is taken in by this operation of the rank. */
  moving(operation: number): void;
  /** The same bytes since the last call, by operation and sender. */
  moves(): readonly Move[];
  /** Whether a step may begin: always, until somebody asks to end; then only steps that some rank has begun. */
  mayBegin(step: number): boolean;
  /** Asks all ranks to end after the step that the first of them is in. */
  askToEnd(): void;
  fail(): void;
  throwIfStopped(): void;
  /** Says which operation the rank is at, for reports on a rank that dies without a word. */
  at(operation: number): void;
}

export function openPort(plan: FabricPlan, memory: FabricMemory, rank: number): Port {
  const control = new Int32Array(memory.control);
  const ledger = new BigInt64Array(memory.ledger);
  let taken = new Float64Array(plan.ledger.length);
  let operation = 0;
  let moved = new Map<number, number>();
  const ring = (ranks: readonly number[]): void => {
    for (const each of ranks) {
      Atomics.add(control, bellWord(each), 1);
      Atomics.notify(control, bellWord(each));
    }
  };
  return {
    rank,
    channel: (owner, name) => {
      const place = plan.channels[owner]?.[name];
      const staging = memory.staging[owner];
      assertInvariant(
        place !== undefined && staging !== undefined,
        () => `rank ${owner} has no channel ${name}, which rank ${rank} waits for`,
      );
      return openChannel(control, staging, owner, place);
    },
    ring,
    bell: () => Atomics.load(control, bellWord(rank)),
    sleep: (seen, milliseconds) =>
      Atomics.wait(control, bellWord(rank), seen, milliseconds) === 'timed-out' ? 'timed-out' : 'woken',
    count: (sender, key, bytes) => {
      taken[key]! += bytes;
      const place = operation * plan.ranks + sender;
      moved.set(place, (moved.get(place) ?? 0) + bytes);
      Atomics.add(ledger, sender * plan.ledger.length + key, BigInt(bytes));
    },
    taken: () => {
      const counted = taken;
      taken = new Float64Array(plan.ledger.length);
      return counted;
    },
    moving: (next) => void (operation = next),
    moves: () => {
      const counted = movesOf(moved, plan.ranks, rank);
      moved = new Map();
      return counted;
    },
    mayBegin: (step) => mayBegin(control, step),
    askToEnd: () => void Atomics.or(control, BEGUN_WORD, END_FLAG),
    fail: () => {
      Atomics.store(control, FAILED_WORD, 1);
      ring(Array.from({ length: plan.ranks }, (_, each) => each));
    },
    throwIfStopped: () => {
      if (Atomics.load(control, FAILED_WORD) !== 0) throw new StoppedError();
    },
    at: (operation) => void Atomics.store(control, progressWord(rank), operation),
  };
}

/** Bytes by operation and sender, whose place is operation x ranks + sender. */
const movesOf = (moved: ReadonlyMap<number, number>, ranks: number, to: number): readonly Move[] =>
  [...moved].map(([place, bytes]) => ({ from: place % ranks, to, operation: Math.floor(place / ranks), bytes }));

/** Set beside the number of the last step that has begun, in one word, so that both change together. */
const END_FLAG = 1 << 30;

function mayBegin(control: Int32Array<SharedArrayBuffer>, step: number): boolean {
  for (;;) {
    const word = Atomics.load(control, BEGUN_WORD);
    if (step <= (word & ~END_FLAG)) return true;
    if ((word & END_FLAG) !== 0) return false;
    if (Atomics.compareExchange(control, BEGUN_WORD, word, step) === word) return true;
  }
}

function openChannel(
  control: Int32Array<SharedArrayBuffer>,
  memory: SharedArrayBuffer,
  rank: number,
  place: ChannelPlace,
): Channel {
  const { control: word, staging: offset } = place;
  return {
    rank,
    memory,
    offset,
    posted: () => Atomics.load(control, word),
    post: () => void Atomics.add(control, word, 1),
    consumed: () => Atomics.load(control, word + 1),
    consume: () => void Atomics.add(control, word + 1, 1),
    label: () => ({ tag: Atomics.load(control, word + 2), key: Atomics.load(control, word + 3) }),
    setLabel: (tag, key) => {
      Atomics.store(control, word + 2, tag);
      Atomics.store(control, word + 3, key);
    },
  };
}
