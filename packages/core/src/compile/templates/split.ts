/** @file Cuts the backward of a block in two: the gradient of its input, which the stage before waits for, and the gradients
 * of its weights, which nobody waits for.
 *
 * The weight part is every kernel that only adds to gradients of parameters. All exchanges stay in the input part, so that
 * a weight part fills idle time and never waits for another rank; what it reads lives until it has run. Kernels that make
 * both gradients at once (norms, sinks of attention) stay whole in the input part, as in the implementations of [qi2023].
 *
 * An embedding passes nothing on: all of its backward is weight part. A loss that is taken in pieces has no weight part:
 * keeping the gradients of the logits of all pieces would undo the pieces.
 */
import { assertInvariant } from '../../errors/index.ts';
import type { BlockKind, Operation, Template } from '../../program/index.ts';
import type { BlockContext } from '../context.ts';

/** What decides the parts of backward. */
type PartContext = Pick<BlockContext, 'lossChunks' | 'model'>;

/** The parts that the backward of a block has where it is split; frozen ends have no gradients of weights. */
export function partsOf(block: BlockKind, { lossChunks, model }: PartContext): readonly ('I' | 'W')[] {
  switch (block) {
    case 'embed':
      return model.adapters === undefined ? ['W'] : [];
    case 'layer':
      return ['I', 'W'];
    case 'head':
      return lossChunks > 1 || model.adapters !== undefined ? ['I'] : ['I', 'W'];
  }
}

/** The templates that stand for `backward` where it is split. */
export function splitBackward(backward: Template, context: PartContext): readonly Template[] {
  const rest = backward.name.slice('B'.length);
  const parts = partsOf(backward.block, context);
  const named = (part: 'I' | 'W', operations: readonly Operation[]): Template => ({
    ...backward,
    name: `${part}${rest}`,
    part: part === 'I' ? 'input' : 'weight',
    operations,
  });
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return [named(only, backward.operations)];
  const waits = backward.operations.map(isWeightPart);
  const input = backward.operations.filter((_, index) => !waits[index]);
  const weight = backward.operations.filter((_, index) => waits[index]);
  assertUnchanged(backward.name, input, weight, backward.operations);
  return [named('I', input), named('W', weight)];
}

/** All that it writes are gradients of parameters, to which it adds. */
const isWeightPart = ({ kind, writes }: Operation): boolean =>
  kind === 'compute' &&
  writes.length > 0 &&
  writes.every(({ buffer, accumulate }) => accumulate && buffer.startsWith('G.'));

/** What the weight part reads must be what it was where the kernel stood: nothing behind it may write it. */
function assertUnchanged(
  name: string,
  input: readonly Operation[],
  weight: readonly Operation[],
  all: readonly Operation[],
): void {
  for (const operation of weight) {
    const behind = new Set(all.slice(all.indexOf(operation) + 1));
    const written = input
      .filter((each) => behind.has(each))
      .flatMap(({ writes }) => writes)
      .find(({ buffer }) => operation.reads.includes(buffer));
    assertInvariant(written === undefined, () => `${name} writes ${written?.buffer} after its weight part read it`);
  }
}
