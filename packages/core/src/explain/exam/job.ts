/** @file The jobs that exams are about: layers larger than a GPU, clusters that hold the model, nothing sharded. */
import { capacityBytes, clusterFromRequest, gpuCount } from '../../cluster/index.ts';
import { assertInvariant } from '../../errors/index.ts';
import { createJob, type Job } from '../../job/index.ts';
import { countParameters, modelFromDimensions } from '../../model/index.ts';

/** What differs between exams. */
interface ExamNumbers {
  readonly cluster: string;
  readonly layers: number;
  readonly hidden: number;
  readonly sequences: number;
}

/** The exam of the field: 512 GPUs, one layer on four of them. The same job as examples/exam-512.yaml. */
const usual: ExamNumbers = { cluster: '64x dgx-h100', layers: 64, hidden: 32_768, sequences: 512 };

const HEAD_SIZE = 128;
const LENGTH = 2048;
const VOCABULARY = 51_200;
/** Weights, fp32 gradients and Adam in mixed precision: bytes of state per parameter. */
export const STATE_PER_PARAMETER = 18;

function jobOf({ cluster: named, layers, hidden, sequences }: ExamNumbers, name: string): Job {
  const { cluster } = clusterFromRequest(named, 'cluster');
  const heads = hidden / HEAD_SIZE;
  const dimensions = { kind: 'gpt2', layers, hidden, heads, ffn: 4 * hidden, vocab: VOCABULARY, positions: LENGTH };
  const { model } = modelFromDimensions({ name, ...dimensions }, 'model');
  assertInvariant(cluster !== undefined && model !== undefined, () => 'an exam has no job');
  return createJob({
    name,
    model,
    cluster,
    batch: { sequences, length: LENGTH },
    layout: { sharding: 0, recompute: 'full', gradientType: 'fp32' },
  });
}

/** The job of the exam that everybody is asked. */
export const usualJob = (): Job => jobOf(usual, 'exam-512');

/** Jobs that a seed draws, each of them one that laws call fair. */
export function* drawnJobs(seed: number): Generator<Job, never> {
  const next = generator(seed);
  for (;;) {
    const job = jobOf(draw(next), `exam-${seed}`);
    if (isFair(job)) yield job;
  }
}

function draw(next: () => number): ExamNumbers {
  const pick = <Value>(from: readonly [Value, ...Value[]]): Value => from[Math.floor(next() * from.length)] ?? from[0];
  return {
    cluster: `${pick([16, 32, 64, 128])}x ${pick(['dgx-a100', 'dgx-h100', 'dgx-h200'])}`,
    layers: pick([32, 48, 64, 96]),
    hidden: pick([20_480, 24_576, 32_768, 40_960]),
    sequences: pick([256, 512, 1024]),
  };
}

/** A layer needs more than one GPU and at most half a box, and the state fills an eighth to a half of the cluster. */
function isFair({ model, cluster }: Job): boolean {
  const { total, perLayer } = countParameters(model);
  const devices = (Math.max(...perLayer) * STATE_PER_PARAMETER) / capacityBytes(cluster);
  const filled = (total * STATE_PER_PARAMETER) / capacityBytes(cluster) / gpuCount(cluster);
  return devices > 1 && devices <= cluster.gpusPerNode / 2 && filled > 1 / 8 && filled < 1 / 2;
}

/** Numbers from 0 to 1 that a seed repeats: a linear congruence with the constants of Numerical Recipes. */
function generator(seed: number): () => number {
  let state = (Math.imul(seed, 2_654_435_761) + 97) >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
