/** @file Rounds of the steady state: run again until they repeat themselves, then added in one go.
 *
 * A round is a max-plus map on the clocks that it is handed. If one or several rounds move all of them by the same time,
 * so do the next ones. Where stages are faster than those that wait for them, each moves by a time of its own. If that
 * happens twice, and no stage moves more than one that waits for it, it goes on: who was waited for the second time moved
 * as much as who waited, and all others fall back.
 */
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
  /** Gathered copies of units, stage by stage: of the run in use and of those ahead of it. */
  readonly copies: Float64Array;
}

/** How rounds moved the clocks. */
interface Motion {
  /** By stage, the time by which its clocks moved. */
  readonly periods: Float64Array;
  /** Rounds in which all clocks of each stage moved alike; 0 for none. */
  rounds: number;
}

/** Runs a round again until the real number of micro-batches is reached. */
export function repeatLoop(walk: Walk, loop: Loop): void {
  const { order, state } = walk;
  const peaks = state.slice();
  const before = createSnapshot(walk, loop);
  const motion: Motion = { periods: new Float64Array(walk.step.stages.length), rounds: 0 };
  // Which round the clocks come back to is not known: a snapshot is compared with twice as many rounds each time.
  let patience = 1;
  let rounds = 0;
  for (let left = order.extra; left > 0; ) {
    if (rounds === 0) takeSnapshot(walk, loop, before);
    goBack(walk, loop);
    for (let peak = PEAK; peak < state.length; peak += WIDTH) state[peak] = 0;
    visitAll(walk, loop.from, loop.to);
    rounds += 1;
    left -= 1;
    if (rounds <= left) {
      const found = compare(walk, loop, before, motion, rounds);
      if (found === 'steady') {
        const cycles = Math.floor(left / rounds);
        skip(walk, loop, motion, cycles, rounds, before);
        left -= cycles * rounds;
      }
      if (found !== undefined) rounds = 0;
    }
    raisePeaks(peaks, state);
    if (rounds === patience) {
      rounds = 0;
      patience *= 2;
    }
  }
  raisePeaks(state, peaks);
}

function raisePeaks(into: Float64Array, from: Float64Array): void {
  for (let peak = PEAK; peak < into.length; peak += WIDTH) {
    into[peak] = Math.max(into[peak] as number, from[peak] as number);
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
  for (let index = 0; index < into.copies.length; index++) into.copies[index] = copyReady(walk, index);
}

const stageOfCopy = ({ step }: Walk, index: number): number => Math.floor(index / (2 * (step.layout.prefetch + 1)));

/** When a copy is there: `index` counts stages, then runs from the one in use on, then own and tied. */
function copyReady(walk: Walk, index: number): number {
  const { units, step } = walk;
  if (units === undefined) return 0;
  const stage = stageOfCopy(walk, index);
  const rest = index - 2 * (step.layout.prefetch + 1) * stage;
  const slot = slotOf(units, stage, (units.run[stage] as number) + (rest >> 1));
  return units.ready[slot + (rest & 1)] as number;
}

/** Lists and transfers go back by a round; who has no unit left to gather has none in any round. */
function goBack({ units, order, sent }: Walk, { uses, onTheWay }: Loop): void {
  const shift = order.stride * order.senders;
  for (const transfer of onTheWay) {
    if (transfer >= shift) sent[transfer - shift] = sent[transfer] as number;
  }
  if (units === undefined) return;
  for (let stage = 0; stage < units.cursor.length; stage++) {
    units.cursor[stage] = (units.cursor[stage] as number) - uses;
    const next = units.nextPosition[stage] as number;
    if (next < (order.lists[stage] as Uint16Array).length) units.nextPosition[stage] = next - uses;
  }
}

/** Whether the clocks moved alike since the snapshot, `rounds` ago: `steady` when all later rounds do so too, `even` when
 * that has to be seen a second time.
 */
function compare(
  walk: Walk,
  loop: Loop,
  before: Snapshot,
  motion: Motion,
  rounds: number,
): 'steady' | 'even' | undefined {
  const { state } = walk;
  const { periods } = motion;
  const tolerance = STEADY * (state[state.length - WIDTH + COMPUTE] as number);
  let isUniform = true;
  let isSame = motion.rounds === rounds;
  for (let stage = 0; stage < periods.length; stage++) {
    const clock = stage * WIDTH + COMPUTE;
    const period = (state[clock] as number) - (before.state[clock] as number);
    if (Math.abs(period - (periods[stage] as number)) > tolerance) isSame = false;
    periods[stage] = period;
    if (Math.abs(period - (periods[0] as number)) > tolerance) isUniform = false;
  }
  motion.rounds = 0;
  if (!movesEvenly(walk, loop, before, periods, tolerance)) return undefined;
  if (isUniform || (isSame && waitsForFaster(walk, loop, periods, tolerance))) return 'steady';
  motion.rounds = rounds;
  return 'even';
}

/** The host may move less: then nothing waited for it in this round, and its distance only grows. Lanes that the round
 * does not use stay where they are.
 */
function movesEvenly(
  walk: Walk,
  { onTheWay }: Loop,
  before: Snapshot,
  periods: Float64Array,
  tolerance: number,
): boolean {
  const { state, sent, order } = walk;
  for (let stage = 0; stage < periods.length; stage++) {
    const period = periods[stage] as number;
    for (let clock = stage * WIDTH; clock < stage * WIDTH + CLOCKS; clock++) {
      const moved = (state[clock] as number) - (before.state[clock] as number);
      if (moved === 0 || Math.abs(moved - period) <= tolerance) continue;
      if (clock !== stage * WIDTH + HOST || moved > period) return false;
    }
  }
  for (let index = 0; index < onTheWay.length; index++) {
    const transfer = onTheWay[index] as number;
    const moved = (sent[transfer] as number) - (before.sent[index] as number);
    const period = periods[senderOf(transfer, order.senders, periods.length)] as number;
    if (Math.abs(moved - period) > tolerance) return false;
  }
  for (let index = 0; index < before.copies.length; index++) {
    const [now, then] = [copyReady(walk, index), before.copies[index] as number];
    const period = periods[stageOfCopy(walk, index)] as number;
    if (now !== then && Math.abs(now - then - period) > tolerance) return false;
  }
  return true;
}

const senderOf = (transfer: number, senders: number, stages: number): number =>
  Math.floor(((transfer % senders) * stages) / senders);

/** No stage of the round moves less than one whose transfers it receives. */
function waitsForFaster({ order }: Walk, loop: Loop, periods: Float64Array, tolerance: number): boolean {
  const { from, stage } = order.visits;
  for (let index = loop.from; index < loop.to; index++) {
    const transfer = from[index] as number;
    if (transfer < 0) continue;
    const sender = periods[senderOf(transfer, order.senders, periods.length)] as number;
    if (sender > (periods[stage[index] as number] as number) + tolerance) return false;
  }
  return true;
}

/** `cycles` times the rounds since the snapshot in one go. */
function skip(
  walk: Walk,
  { onTheWay }: Loop,
  { periods }: Motion,
  cycles: number,
  rounds: number,
  before: Snapshot,
): void {
  const { state, sent, units } = walk;
  for (let base = 0; base < state.length; base += WIDTH) {
    for (let clock = base; clock < base + CLOCKS; clock++) {
      const now = state[clock] as number;
      state[clock] = now + (now - (before.state[clock] as number)) * cycles;
    }
    // Every round adds the same; the peak is that of the last one.
    const bytes = state[base + BYTES] as number;
    const growth = ((bytes - (before.state[base + BYTES] as number)) / rounds) * (cycles * rounds);
    state[base + BYTES] = bytes + growth;
    if (growth > 0) state[base + PEAK] = (state[base + PEAK] as number) + growth;
  }
  onTheWay.forEach((transfer, index) => {
    const now = sent[transfer] as number;
    sent[transfer] = now + (now - (before.sent[index] as number)) * cycles;
  });
  if (units === undefined) return;
  const perStage = 2 * units.ring;
  for (let slot = 0; slot < units.ready.length; slot++) {
    const ahead = (periods[Math.floor(slot / perStage)] as number) * cycles;
    units.ready[slot] = (units.ready[slot] as number) + ahead;
  }
}
