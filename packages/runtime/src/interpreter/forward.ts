/** @file The forward of one micro-batch on one rank, up to its logits: the period of a program that is left when the loss
 * begins. So a sample is written by the same operations that trained the model.
 */
import { assertInvariant } from '@meshwright/core/errors';
import type { Instance } from '@meshwright/core/program';
import { fillInput } from '../inputs/fill.ts';
import type { Elements } from '../kernels/tensor.ts';
import { valuesOf } from './cells.ts';
import { runCompute } from './compute.ts';
import { attributed } from './lanes.ts';
import type { Machine } from './machine.ts';
import { beginPeriod } from './period.ts';

/** The first kernel of the loss; what it reads are the logits. */
const LOSS_BEGINS = 'rowmax';

/** Logits of every place of the sequence [s, 1, v] after `tokens`, which fill the places from the first on. The program is of
 * one rank and one sequence. */
export function forwardLogits(machine: Machine, tokens: ArrayLike<number>): Elements {
  const live = new Set<Instance>();
  machine.validates = true;
  beginPeriod(machine);
  try {
    for (const expanded of machine.expanded.operations) {
      const { operation, index } = expanded;
      if (operation.kind === 'compute' && operation.kernel === LOSS_BEGINS) {
        const [logits] = expanded.reads;
        assertInvariant(logits !== undefined, () => 'the loss reads no logits');
        return valuesOf(machine.cells.window(logits)).slice();
      }
      for (const instance of machine.allocations.before[index] ?? []) {
        const cell = machine.cells.allocate(instance);
        live.add(instance);
        if (instance.declaration.name === 'tokens') writeTokens(cell.data, tokens);
        else fillInput(machine, instance.declaration, cell.data, expanded.microBatch ?? 0);
      }
      assertInvariant(
        operation.kind !== 'collective' && operation.kind !== 'send' && operation.kind !== 'recv',
        () => 'a program of one rank exchanges nothing',
      );
      if (operation.kind === 'compute')
        attributed({ operation: expanded }, () => runCompute(machine, expanded, operation));
      for (const instance of machine.allocations.after[index] ?? []) {
        machine.cells.release(instance);
        live.delete(instance);
      }
    }
  } finally {
    for (const instance of live) machine.cells.release(instance);
  }
  throw new Error('internal: the program has no loss.');
}

/** Places behind the tokens hold the first token of the vocabulary: attention is causal, so they do not matter. */
function writeTokens(cell: Elements, tokens: ArrayLike<number>): void {
  cell.fill(0);
  cell.set(Array.from(tokens));
}
