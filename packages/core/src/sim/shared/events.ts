/** @file A queue of what happens when: a binary heap in typed arrays, earliest first, equal times in order of number. */

/** The queue. Numbers are the caller's: an operation, or a running one with the round in which its end was foreseen. */
export interface EventQueue {
  readonly size: () => number;
  /** Time of the first event; Infinity where there is none. */
  readonly time: () => number;
  readonly push: (time: number, number: number, round: number) => void;
  /** Takes the first event off; `number` and `round` are then its own. */
  readonly pop: () => void;
  number: number;
  round: number;
}

/** An empty queue. */
export function createEvents(): EventQueue {
  let times = new Float64Array(1024);
  let numbers = new Int32Array(1024);
  let rounds = new Int32Array(1024);
  let size = 0;

  const before = (time: number, number: number, at: number): boolean =>
    time < (times[at] as number) || (time === times[at] && number < (numbers[at] as number));
  const put = (at: number, time: number, number: number, round: number): void => {
    times[at] = time;
    numbers[at] = number;
    rounds[at] = round;
  };
  const move = (from: number, to: number): void =>
    put(to, times[from] as number, numbers[from] as number, rounds[from] as number);
  const grow = (): void => {
    const larger = <Row extends Float64Array | Int32Array>(row: Row, made: Row): Row => {
      made.set(row);
      return made;
    };
    times = larger(times, new Float64Array(2 * times.length));
    numbers = larger(numbers, new Int32Array(2 * numbers.length));
    rounds = larger(rounds, new Int32Array(2 * rounds.length));
  };
  const queue: EventQueue = {
    number: -1,
    round: 0,
    size: () => size,
    time: () => (size > 0 ? (times[0] as number) : Number.POSITIVE_INFINITY),
    push: (time, number, round) => {
      if (size === times.length) grow();
      let at = size++;
      while (at > 0) {
        const above = (at - 1) >> 1;
        if (!before(time, number, above)) break;
        move(above, at);
        at = above;
      }
      put(at, time, number, round);
    },
    pop: () => {
      queue.number = numbers[0] as number;
      queue.round = rounds[0] as number;
      size -= 1;
      const [time, number, round] = [times[size] as number, numbers[size] as number, rounds[size] as number];
      let at = 0;
      for (;;) {
        let below = 2 * at + 1;
        if (below >= size) break;
        if (below + 1 < size && before(times[below + 1] as number, numbers[below + 1] as number, below)) below += 1;
        if (!before(times[below] as number, numbers[below] as number, size)) break;
        move(below, at);
        at = below;
      }
      put(at, time, number, round);
    },
  };
  return queue;
}
