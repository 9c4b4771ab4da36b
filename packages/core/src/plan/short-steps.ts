/** @file Short steps of one layout, each written, simulated and laid on links once: who settles a layout and who measures it
 * ask for the same few.
 *
 * A step repeats itself once its pipeline is full, so two short ones, one round of the steady state apart, say what each
 * further round adds.
 */
import { compileProgram } from '../compile/index.ts';
import { type FaultyNetwork, networkOf } from '../cost/index.ts';
import type { Layout } from '../layout/index.ts';
import type { Program } from '../program/index.ts';
import { pricesOf, type SimulatedStep, simulateProgram } from '../sim/index.ts';
import { createEvaluator, type Evaluator, evaluateStep } from './evaluate/index.ts';
import type { Candidate } from './search.ts';
import { shortenedJob } from './shortened.ts';

/** Operations of a short step that are simulated while people wait. */
export const MOST_OPERATIONS = 300_000;

/** Micro-batches of short steps. */
interface ShortCounts {
  /** Those of the whole step. */
  readonly all: number;
  /** Micro-batches of a round. */
  readonly stride: number;
  /** The fewest that fill the pipeline and go on; `all` where that is no more. */
  readonly fewest: number;
  /** Those of steps that, each with one a round longer, say at block level what the whole step takes; ascending, fewer than
   * `all`. Each is looked for when it is asked for. */
  counts(): Iterable<number>;
}

/** Counts of micro-batches that a step can be extrapolated from, by blocks, which say so in milliseconds. */
function shortCounts(evaluator: Evaluator, { layout, evaluation }: Candidate): ShortCounts {
  const { written, stride, extra } = evaluator.orderOf(layout);
  const all = written + extra * stride;
  const secondsOf = blockSeconds(evaluator, layout);
  const agrees = (count: number): boolean => {
    const near = secondsOf(count);
    const whole = near + ((all - count) / stride) * (secondsOf(count + stride) - near);
    return Math.abs(whole - evaluation.seconds) <= 1e-9 * evaluation.seconds;
  };
  return {
    all,
    stride,
    fewest: Math.min(all, written),
    *counts() {
      // Interleaved stages take two rounds of micro-batches to fill up and empty, one of which is steady already.
      if (stride > 1 && 2 * stride < Math.min(all, written) && agrees(2 * stride)) yield 2 * stride;
      for (let count = written; count < all; count += stride * Math.ceil(count / stride)) {
        if (agrees(count)) yield count;
      }
    },
  };
}

/** Seconds of shortened steps at block level. */
function blockSeconds(evaluator: Evaluator, layout: Layout): (microBatches: number) => number {
  const spec = evaluator.specOf(layout);
  const book = { pricesOf: () => evaluator.pricesOf(layout) };
  return (microBatches) => {
    const short = createEvaluator(shortenedJob(evaluator.job, layout, microBatches), {}, book);
    return evaluateStep(spec, short.orderOf(layout)).seconds;
  };
}

/** A step of fewer micro-batches. */
export interface ShortStep {
  readonly program: Program;
  /** Every operation as if nothing else ran; simulated when it is asked for. */
  readonly alone: SimulatedStep;
}

/** Short steps of a layout. They are large: let go of the book when the layout is settled and measured. */
export interface ShortSteps extends ShortCounts {
  of(microBatches: number): ShortStep;
  /** The links of the job's cluster; what its steps put on them is worked out once. Made when it is asked for. */
  readonly network: FaultyNetwork;
}

/** Nothing is written yet. */
export function shortSteps(evaluator: Evaluator, candidate: Candidate): ShortSteps {
  const { layout } = candidate;
  const known = new Map<number, ShortStep>();
  let network: FaultyNetwork | undefined;
  return {
    ...shortCounts(evaluator, candidate),
    of: (microBatches) => {
      const step = known.get(microBatches) ?? shortStep(evaluator, layout, microBatches);
      known.set(microBatches, step);
      return step;
    },
    get network(): FaultyNetwork {
      network ??= networkOf(evaluator.job.cluster);
      return network;
    },
  };
}

function shortStep(evaluator: Evaluator, layout: Layout, microBatches: number): ShortStep {
  const program = compileProgram(shortenedJob(evaluator.job, layout, microBatches), layout);
  let alone: SimulatedStep | undefined;
  return {
    program,
    get alone(): SimulatedStep {
      alone ??= simulateProgram(program, pricesOf(program, evaluator.pricesOf(layout)));
      return alone;
    },
  };
}
