/** @file Short steps of one layout, each written, simulated and laid on links once: who settles a layout and who measures it
 * ask for the same few.
 */
import { compileProgram } from '../compile/index.ts';
import { type FaultyNetwork, networkOf } from '../cost/index.ts';
import type { Layout } from '../layout/index.ts';
import type { Program } from '../program/index.ts';
import { pricesOf, type SimulatedStep, simulateProgram } from '../sim/index.ts';
import type { Evaluator } from './evaluate/index.ts';
import { shortenedJob } from './shortened.ts';

/** A step of fewer micro-batches. */
export interface ShortStep {
  readonly program: Program;
  /** Every operation as if nothing else ran; simulated when it is asked for. */
  readonly alone: SimulatedStep;
}

/** Short steps of a layout. They are large: let go of the book when the layout is settled and measured. */
export interface ShortSteps {
  of(microBatches: number): ShortStep;
  /** The links of the job's cluster; what its steps put on them is worked out once. Made when it is asked for. */
  readonly network: FaultyNetwork;
}

/** Nothing is written yet. */
export function shortSteps(evaluator: Evaluator, layout: Layout): ShortSteps {
  const known = new Map<number, ShortStep>();
  let network: FaultyNetwork | undefined;
  return {
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
