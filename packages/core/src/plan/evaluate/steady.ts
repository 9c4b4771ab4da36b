/** @file Rounds of the steady state: run again until all clocks advance evenly, then added in one go. */
import type { Loop } from './order.ts';
import { BYTES, CLOCKS, COMPUTE, HOST, PEAK, type Walk, WIDTH } from './state.ts';
import { slotOf } from './units.ts';
import { visitAll } from './visit.ts';

/** Clocks that drift apart by less than this share of the time so far count as equal. */
const STEADY = 4e-14;

/** All that a round hands on to the next one. */
interface Snapshot {
  readonly state: Float64Array;
  /** Transfers on their way, in the order of {@link Loop.onTheWay}. */
  readonly sent: Float64Array;
  /** Gathered copies of the run in use and of those ahead of it. */
  readonly copies: Float64Array;
}

/** Runs a round again until the real number of micro-batches is reached. */
export function repeatLoop(walk: Walk, loop: Loop): void {
  const { order, state, sent } = walk;
  if (order.extra === 0) return;
  const before = createSnapshot(walk, loop);
  for (let left = order.extra; left > 0; left--) {
    takeSnapshot(walk, loop, before);
    sent.copyWithin(0, order.stride * order.places);
    goBack(walk, loop.round);
    for (let peak = PEAK; peak < state.length; peak += WIDTH) state[peak] = 0;
    visitAll(walk, loop.from, loop.to);
    const period = steadyPeriod(walk, loop, before);
    if (period !== undefined) skip(walk, loop, period, left - 1, before);
    for (let peak = PEAK; peak < state.length; peak += WIDTH) {
      state[peak] = Math.max(state[peak] as number, before.state[peak] as number);
    }
    if (period !== undefined) return;
  }
}

function createSnapshot({ state, units, step }: Walk, { onTheWay }: Loop): Snapshot {
  const copies = units === undefined ? 0 : 2 * (step.layout.prefetch + 1) * step.stages.length;
  return {
    state: new Float64Array(state.length),
    sent: new Float64Array(onTheWay.length),
    copies: new Float64Array(copies),
  };
}

function takeSnapshot(walk: Walk, { onTheWay }: Loop, into: Snapshot): void {
  into.state.set(walk.state);
  for (let index = 0; index < onTheWay.length; index++) {
    into.sent[index] = walk.sent[onTheWay[index] as number] as number;
  }
  for (let index = 0; index < into.copies.length; index++) {
    into.copies[index] = copyReady(walk, index);
  }
}

/** When a copy is there: `index` counts stages, then runs from the one in use on, then own and tied. */
function copyReady({ units, step }: Walk, index: number): number {
  if (units === undefined) return 0;
  const perStage = 2 * (step.layout.prefetch + 1);
  const stage = Math.floor(index / perStage);
  const rest = index - stage * perStage;
  const slot = slotOf(units, stage, (units.run[stage] as number) + (rest >> 1));
  return units.ready[slot + (rest & 1)] as number;
}

/** Lists go back by a round; who has no unit left to gather has none in any round. */
function goBack({ units, order }: Walk, round: number): void {
  if (units === undefined) return;
  for (let stage = 0; stage < units.cursor.length; stage++) {
    units.cursor[stage] = (units.cursor[stage] as number) - round;
    const next = units.nextPosition[stage] as number;
    if (next < (order.codes[stage] as Int32Array).length) units.nextPosition[stage] = next - round;
  }
}

/** The time by which everything advanced in the last round; undefined while it differs.
 *
 * The host may advance more slowly: then nothing waited for it in this round, and its distance only grows. Lanes that the
 * round does not use stay where they are.
 */
function steadyPeriod(walk: Walk, { onTheWay }: Loop, before: Snapshot): number | undefined {
  const { state, sent } = walk;
  const last = state.length - WIDTH + COMPUTE;
  const period = (state[last] as number) - (before.state[last] as number);
  const tolerance = STEADY * (state[last] as number);
  const isEven = (now: number, then: number): boolean => now === then || Math.abs(now - then - period) <= tolerance;
  for (let base = 0; base < state.length; base += WIDTH) {
    for (let clock = base; clock < base + CLOCKS; clock++) {
      const now = state[clock] as number;
      const then = before.state[clock] as number;
      if (isEven(now, then) || (clock === base + HOST && now - then < period)) continue;
      return undefined;
    }
  }
  for (let index = 0; index < onTheWay.length; index++) {
    const shift = (sent[onTheWay[index] as number] as number) - (before.sent[index] as number);
    if (Math.abs(shift - period) > tolerance) return undefined;
  }
  for (let index = 0; index < before.copies.length; index++) {
    if (!isEven(copyReady(walk, index), before.copies[index] as number)) return undefined;
  }
  return period;
}

function skip(walk: Walk, { onTheWay }: Loop, period: number, rounds: number, before: Snapshot): void {
  const { state, sent, units } = walk;
  const ahead = period * rounds;
  for (let base = 0; base < state.length; base += WIDTH) {
    for (let clock = base; clock < base + CLOCKS; clock++) {
      const now = state[clock] as number;
      state[clock] = now + (now - (before.state[clock] as number)) * rounds;
    }
    const bytes = state[base + BYTES] as number;
    const growth = (bytes - (before.state[base + BYTES] as number)) * rounds;
    state[base + BYTES] = bytes + growth;
    if (growth > 0) state[base + PEAK] = (state[base + PEAK] as number) + growth;
  }
  for (const transfer of onTheWay) sent[transfer] = (sent[transfer] as number) + ahead;
  if (units === undefined) return;
  for (let slot = 0; slot < units.ready.length; slot++) units.ready[slot] = (units.ready[slot] as number) + ahead;
}
