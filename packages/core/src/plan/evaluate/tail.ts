/** @file The tail of a period at block level: the same lines as compile/lower/tail.ts, on all stages at once. */
import { isEach, sumOverTensor } from './data.ts';
import type { StepSpec } from './spec.ts';
import { CLOCK, type StageState } from './state.ts';

/** Runs the tail on every stage; gives the end of the last operation of the step. */
export function finishPeriod(step: StepSpec, states: readonly StageState[]): number {
  sumShards(step, states);
  const control = new Float64Array(states.length);
  states.forEach((state, stage) => {
    const { clocks } = state;
    const host = issue(state, step.launchCompute);
    let ready = Math.max(host, clocks[CLOCK.compute] as number);
    for (const gradient of state.gradientReady) if (gradient > ready) ready = gradient;
    const end = ready + state.spec.normSeconds;
    clocks[CLOCK.compute] = end;
    control[stage] = end;
  });
  const lane = new Float64Array(states.length);
  step.normSums.forEach((sum, index) => {
    if (Number.isNaN(sum)) return;
    let latest = Number.NEGATIVE_INFINITY;
    states.forEach((state, stage) => {
      const host = issue(state, step.launchExchange);
      const start = Math.max(host, lane[stage] as number, control[stage] as number);
      control[stage] = start + sum;
      if (start > latest) latest = start;
    });
    // The last sum is over pipeline: all stages take part in it together.
    if (index === 2) control.fill(latest + sum);
    lane.set(control);
  });
  let end = 0;
  states.forEach((state, stage) => {
    const { clocks, spec } = state;
    clocks[CLOCK.compute] =
      Math.max(issue(state, step.launchCompute), clocks[CLOCK.compute] as number, control[stage] as number) +
      step.clipSeconds;
    const updated = Math.max(issue(state, step.launchCompute), clocks[CLOCK.compute] as number) + spec.optimizerSeconds;
    clocks[CLOCK.compute] = updated;
    end = Math.max(end, updated);
    if (spec.holdsLoss && !Number.isNaN(step.lossSeconds)) {
      end = Math.max(end, Math.max(issue(state, step.launchExchange), lane[stage] as number) + step.lossSeconds);
    }
  });
  return end;
}

function issue(state: StageState, seconds: number): number {
  const host = (state.clocks[CLOCK.host] as number) + seconds;
  state.clocks[CLOCK.host] = host;
  return host;
}

/** Sums that wait for the tail, bucket by bucket in the order of the list: over tensor for shards, over both ends. */
function sumShards(step: StepSpec, states: readonly StageState[]): void {
  const first = states[0];
  const last = states[states.length - 1];
  states.forEach((state) => {
    state.spec.buckets.forEach((bucket, index) => {
      if (isEach(step) && bucket.sumSeconds > 0) {
        const ready = state.gradientReady[index] as number;
        state.gradientReady[index] = sumOverTensor(state, step, bucket.sumSeconds, ready);
      }
      if (bucket.endsSeconds > 0) {
        const host = issue(state, step.launchExchange);
        state.gradientReady[index] = Math.max(host, state.gradientReady[index] as number);
        if (bucket.inTail && step.layout.data > 1) state.tiedIssued = issue(state, step.launchExchange);
      }
    });
  });
  if (first === undefined || last === undefined || first === last) return;
  finishTied(step, first, last);
}

function finishTied(step: StepSpec, first: StageState, last: StageState): void {
  const index = first.spec.buckets.findIndex((bucket) => bucket.endsSeconds > 0);
  const other = last.spec.buckets.findIndex((bucket) => bucket.endsSeconds > 0);
  const bucket = first.spec.buckets[index];
  if (bucket === undefined) return;
  const end = Math.max(first.gradientReady[index] as number, last.gradientReady[other] as number) + bucket.endsSeconds;
  for (const [state, at] of [
    [first, index],
    [last, other],
  ] as const) {
    let ready = end;
    if (bucket.inTail && step.layout.data > 1) {
      const lane = state.clocks[CLOCK.reduce] as number;
      ready = Math.max(lane, end, state.tiedIssued) + bucket.reduceSeconds;
      state.clocks[CLOCK.reduce] = ready;
    }
    state.gradientReady[at] = ready;
  }
}
