/** @file The tail of a period at block level: the same lines as compile/lower/tail.ts, on all stages at once. */
import type { BucketSpec } from './buckets.ts';
import { sumOverSets, sumOverTensor } from './exchanges.ts';
import { COMPUTE, HOST, REDUCE, type Walk, WIDTH } from './state.ts';

/** Runs the tail on every stage; gives the end of the last operation of the step. */
export function finishPeriod(walk: Walk): number {
  const { step, state, gradientReady } = walk;
  const stages = step.stages.length;
  const sumsIssued = new Float64Array(stages);
  const setsIssued = new Float64Array(stages);
  for (let stage = 0; stage < stages; stage++) sumShards(walk, stage, sumsIssued, setsIssued);
  if (step.mirrored) finishCopies(walk);
  else finishTied(walk, sumsIssued, setsIssued);
  const copied = new Float64Array(step.buckets.length);
  for (let stage = 0; stage < stages; stage++) copyOut(walk, stage, copied);
  const norm = new Float64Array(stages);
  for (let stage = 0; stage < stages; stage++) {
    const base = stage * WIDTH;
    let ready = Math.max(issue(state, base, step.launchCompute), state[base + COMPUTE] as number);
    const until = step.stageBucket[stage + 1] as number;
    for (let bucket = step.stageBucket[stage] as number; bucket < until; bucket++) {
      ready = Math.max(ready, gradientReady[bucket] as number);
    }
    norm[stage] = ready + (step.stages[stage]?.normSeconds ?? 0);
    state[base + COMPUTE] = norm[stage] as number;
  }
  const control = sumNorms(walk, norm);
  let end = 0;
  let loss = 0;
  for (let stage = 0; stage < stages; stage++) {
    end = Math.max(end, update(walk, stage, norm, copied));
    loss = Math.max(loss, averageLoss(walk, stage, control));
  }
  return Math.max(end, Number.isNaN(step.lossCopies) ? loss : loss + step.lossCopies);
}

function issue(state: Float64Array, base: number, seconds: number): number {
  const host = (state[base + HOST] as number) + seconds;
  state[base + HOST] = host;
  return host;
}

/** Sums that wait for the tail, bucket by bucket in the order of the list: over tensor for shards, over both ends. */
function sumShards(walk: Walk, stage: number, sumsIssued: Float64Array, setsIssued: Float64Array): void {
  const { step, state, gradientReady } = walk;
  const base = stage * WIDTH;
  const first = step.stageBucket[stage] as number;
  for (const at of step.stages[stage]?.listed ?? []) {
    const index = first + at;
    const bucket = step.buckets[index];
    if (bucket === undefined) continue;
    if (bucket.reducesEach && bucket.sumSeconds > 0) sumOverTensor(walk, base, index, bucket.sumSeconds);
    if (bucket.endsSeconds === 0) continue;
    gradientReady[index] = Math.max(issue(state, base, step.launchExchange), gradientReady[index] as number);
    if (!bucket.inTail || !bucket.reduces) continue;
    sumsIssued[stage] = issue(state, base, step.launchExchange);
    if (bucket.setsSeconds > 0) setsIssued[stage] = issue(state, base, step.launchExchange);
  }
}

/** The tied matrix is the first bucket of both ends. */
function finishTied(walk: Walk, sumsIssued: Float64Array, setsIssued: Float64Array): void {
  const { step, state, gradientReady } = walk;
  const stages = step.stages.length;
  const [first, last] = [step.stageBucket[0] as number, step.stageBucket[stages - 1] as number];
  const bucket = step.buckets[first];
  if (stages === 1 || bucket === undefined || bucket.endsSeconds === 0) return;
  const summed = Math.max(gradientReady[first] as number, gradientReady[last] as number) + bucket.endsSeconds;
  for (const [stage, index] of [
    [0, first],
    [stages - 1, last],
  ] as const) {
    let ready = summed;
    if (bucket.inTail && bucket.reduces) {
      const lane = stage * WIDTH + REDUCE;
      ready = Math.max(state[lane] as number, summed, sumsIssued[stage] as number) + bucket.reduceSeconds;
      state[lane] = ready;
    }
    gradientReady[index] = ready;
    if (bucket.inTail && bucket.setsSeconds > 0) {
      sumOverSets(walk, stage * WIDTH, index, setsIssued[stage] as number);
    }
  }
}

/** Every bucket is summed over the two stages that hold it, in the order of their lists. */
function finishCopies({ step, gradientReady }: Walk): void {
  const stages = step.stages.length;
  for (let near = 0; near < stages / 2; near++) {
    const [one, other] = [step.stageBucket[near] as number, step.stageBucket[stages - 1 - near] as number];
    let lane = 0;
    for (const at of step.stages[near]?.listed ?? []) {
      const ready = Math.max(lane, gradientReady[one + at] as number, gradientReady[other + at] as number);
      lane = ready + (step.buckets[one + at] as BucketSpec).endsSeconds;
      gradientReady[one + at] = lane;
      gradientReady[other + at] = lane;
    }
  }
}

/** Gradients of buckets that the host updates go to its memory one after the other: `copied` becomes when each is there. */
function copyOut({ step, state, gradientReady }: Walk, stage: number, copied: Float64Array): void {
  let lane = 0;
  for (const at of step.stages[stage]?.listed ?? []) {
    const index = (step.stageBucket[stage] as number) + at;
    const host = step.buckets[index]?.host;
    if (host === undefined) continue;
    const issued = issue(state, stage * WIDTH, step.launchCompute);
    lane = Math.max(issued, lane, gradientReady[index] as number) + host.outSeconds;
    copied[index] = lane;
  }
}

/** The host updates bucket by bucket and copies each one's weights back; gives the end of the last copy. */
function updateOnHost({ step, state }: Walk, stage: number, ready: number, copied: Float64Array): number {
  let updated = ready;
  let back = 0;
  for (const at of step.stages[stage]?.listed ?? []) {
    const index = (step.stageBucket[stage] as number) + at;
    const host = step.buckets[index]?.host;
    if (host === undefined) continue;
    const issued = issue(state, stage * WIDTH, step.launchCompute);
    updated = Math.max(issued, updated, copied[index] as number) + host.updateSeconds;
    back = Math.max(issue(state, stage * WIDTH, step.launchCompute), back, updated) + host.inSeconds;
  }
  return back;
}

/** Sums the squares over all axes that split parameters: `norm` becomes the time when the sum is there, the result when
 * the lane of scalars is free. */
function sumNorms({ step, state }: Walk, norm: Float64Array): Float64Array {
  const lane = new Float64Array(norm.length);
  step.normSums.forEach((sum, index) => {
    if (Number.isNaN(sum)) return;
    let latest = Number.NEGATIVE_INFINITY;
    for (let stage = 0; stage < norm.length; stage++) {
      const host = issue(state, stage * WIDTH, step.launchExchange);
      const start = Math.max(host, lane[stage] as number, norm[stage] as number);
      norm[stage] = start + sum;
      latest = Math.max(latest, start);
    }
    // The last sum is over pipeline: all stages take part in it together.
    if (index === step.normSums.length - 1) norm.fill(latest + sum);
    lane.set(norm);
  });
  return lane;
}

/** Clips and updates; gives the end. */
function update(walk: Walk, stage: number, norm: Float64Array, copied: Float64Array): number {
  const { step, state } = walk;
  const base = stage * WIDTH;
  const spec = step.stages[stage];
  const clip = Math.max(issue(state, base, step.launchCompute), state[base + COMPUTE] as number, norm[stage] as number);
  const clipped = clip + step.clipSeconds;
  const updated =
    step.layout.offload === 'optimizer'
      ? updateOnHost(walk, stage, clipped, copied)
      : Math.max(issue(state, base, step.launchCompute), clipped) + (spec?.optimizerSeconds ?? 0);
  state[base + COMPUTE] = updated;
  return updated;
}

/** When the loss of a stage that has one is summed, but for the sum over both copies of the model: this is when it can
 * start. 0 where nothing is summed. */
function averageLoss({ step, state }: Walk, stage: number, control: Float64Array): number {
  if (step.stages[stage]?.holdsLoss !== true) return 0;
  const base = stage * WIDTH;
  let loss = control[stage] as number;
  for (const sum of step.lossSums) loss = Math.max(issue(state, base, step.launchExchange), loss) + sum;
  if (!Number.isNaN(step.lossCopies)) return Math.max(issue(state, base, step.launchExchange), loss);
  return step.lossSums.length > 0 ? loss : 0;
}
