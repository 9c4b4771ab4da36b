/** @file Text that a trained model writes: one token after another, drawn from what it says of the next one. */
import { InputError, issue, throwOnErrors } from '@meshwright/core/errors';
import { worldSize } from '@meshwright/core/mesh';
import { expandList, type Program } from '@meshwright/core/program';
import { checkState } from '../checkpoint/load.ts';
import { placementOf } from '../checkpoint/placement.ts';
import { vocabularyOf } from '../inputs/fill.ts';
import { fillWeights } from '../inputs/weights.ts';
import { forwardLogits } from '../interpreter/forward.ts';
import { createMachine } from '../interpreter/machine.ts';
import type { Elements } from '../kernels/tensor.ts';
import { mix, uniform } from '../numbers/hash.ts';
import { checkRunnable } from '../train/check-runnable.ts';
import { runOptionsOf, type TrainOptions } from '../train/train-program.ts';
import { createFabricMemory, planFabric } from '../transport/fabric.ts';

/** How tokens are drawn, and by which weights. */
export interface SampleOptions extends Pick<TrainOptions, 'from' | 'initial' | 'kernels'> {
  /** What the text begins with; at least one token. */
  readonly prompt: readonly number[];
  /** How many tokens are written. */
  readonly tokens: number;
  /** Logits are divided by it: below 1 surer, above 1 bolder; 0 always takes the likeliest. */
  readonly temperature: number;
  readonly seed: number;
}

/** Writes tokens after a prompt. `program` is of one rank, one sequence and one micro-batch; when the text is longer than a
 * sequence, the model sees its end. Throws one InputError with what keeps it from being run. */
export function* sampleTokens(program: Program, options: SampleOptions): Generator<number> {
  const { prompt, temperature, seed, from } = options;
  const length = lengthOf(program);
  const vocabulary = vocabularyOf(program);
  throwOnErrors(checkRunnable(program, { steps: 0, kernels: options.kernels }));
  throwOnErrors(checkPrompt(prompt, vocabulary));
  const placement = placementOf(program);
  if (from) throwOnErrors(checkState(from, program, placement));
  const run = runOptionsOf(program, { ...options, steps: 0 }, placement);
  const plan = planFabric(
    program,
    program.lists.map((list) => expandList(program, list)),
    1,
    run.arithmetic,
  );
  const machine = createMachine(program, 0, run, { plan, memory: createFabricMemory(plan) }, () => 0);
  fillWeights(machine);
  const text = [...prompt];
  for (let written = 0; written < options.tokens; written++) {
    const seen = text.slice(-length);
    const logits = forwardLogits(machine, seen).subarray((seen.length - 1) * vocabulary, seen.length * vocabulary);
    const token = drawToken(logits, temperature, uniform(mix(seed, 0x5a301e), written));
    text.push(token);
    yield token;
  }
}

function checkPrompt(prompt: readonly number[], vocabulary: number) {
  if (prompt.length === 0) {
    throw new InputError([issue('VALUE_OUT_OF_RANGE', '--prompt', 'the prompt has no token.', 'Give it a letter.')]);
  }
  const unknown = prompt.find((token) => token >= vocabulary);
  if (unknown === undefined) return [];
  const message = `the prompt has the token ${unknown}, and the model knows 0 to ${vocabulary - 1}.`;
  return [issue('TOKEN_UNKNOWN', '--prompt', message, 'Use the tokenizer that the model was trained with.')];
}

/** Tokens of a sequence. Throws where the program is not of one rank and one sequence. */
function lengthOf(program: Program): number {
  const [sequence, batch] = program.buffers.find(({ name }) => name === 'tokens')?.dims ?? [];
  if (worldSize(program.mesh) !== 1 || program.microBatches !== 1 || batch?.size !== 1) {
    throw new Error('internal: samples are written by a program of one rank and one sequence.');
  }
  return sequence?.size ?? 0;
}

/** The token at which the probabilities, summed in order, pass `chance`. */
export function drawToken(logits: Elements, temperature: number, chance: number): number {
  let likeliest = 0;
  for (let token = 1; token < logits.length; token++) if (logits[token]! > logits[likeliest]!) likeliest = token;
  if (temperature === 0) return likeliest;
  const weights = Float64Array.from(logits, (logit) => Math.exp((logit - logits[likeliest]!) / temperature));
  let left = chance * weights.reduce((sum, weight) => sum + weight, 0);
  for (const [token, weight] of weights.entries()) {
    left -= weight;
    if (left < 0) return token;
  }
  return likeliest;
}
