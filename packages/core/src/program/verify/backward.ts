/** @file Backward answers forward, template by template.
 *
 * The law: each kernel of a block's forward has its input gradient and its weight gradient in the block's backward, as
 * many of each, and each use of a parameter adds to its gradient once. What backward makes again does not count. What a
 * gradient reads of forward is what one call of its kernel read and wrote, and gradients of parameters are added to: each
 * micro-batch brings its part. A backward in two parts answers as one in one does: with both together, and its weight part
 * only adds to gradients of parameters. Which gradient goes where: gradients.ts.
 */
import { type KernelName, kernels } from '../kernels/index.ts';
import type { Operation, Program, Template } from '../types.ts';
import { followForward } from './gradient-flow.ts';
import { gradientRules } from './gradient-rules.ts';
import type { Report } from './report.ts';
import { type IsTrained, trainedIn } from './trained.ts';

/** Reports forward kernels without a backward, backward kernels without a forward, and parameters with too many or too
 * few gradients.
 */
export function verifyBackward(program: Program, report: Report): void {
  const declared = new Set(program.buffers.map(({ name }) => name));
  for (const block of new Set(program.templates.map(blockOf))) {
    const templates = forwardOf(program, block);
    const forward = operationsOf(templates);
    const isTrained = trainedIn(program, templates);
    const expected = gradientKernels(forward, isTrained);
    for (const backward of backwardsOf(program, block).map(operationsOf)) {
      compareKernels(block, expected, backward, report);
      compareParameters(block, forward, backward, (name) => !declared.has(name) && isTrained(name), report);
      for (const operation of backward) {
        checkOperands(block, operation, forward, report);
        checkAdds(block, operation, report);
      }
    }
  }
  for (const template of program.templates) if (template.part === 'weight') checkWeightPart(template, report);
}

/** What a template's name says after its direction: `layer.moe` of `F.layer.moe`, which `B.layer.moe` answers. */
export const blockOf = ({ name, block }: Template): string =>
  /^[A-Z]+\../.test(name) ? name.slice(name.indexOf('.') + 1) : block;

const operationsOf = (templates: readonly Template[]): readonly Operation[] =>
  templates.flatMap(({ operations }) => operations.filter(({ why }) => why.rule !== 'recompute'));

/** The backward of a block in one and that in two parts, as far as there are templates of them. */
export function backwardsOf({ templates }: Program, block: string): readonly (readonly Template[])[] {
  const mine = templates.filter((each) => blockOf(each) === block && each.direction === 'backward');
  const whole = mine.filter(({ part }) => part === undefined);
  const parts = mine.filter(({ part }) => part !== undefined);
  return whole.length > 0 && parts.length > 0 ? [whole, parts] : [mine];
}

/** The forward of a block. */
export const forwardOf = ({ templates }: Program, block: string): readonly Template[] =>
  templates.filter((each) => blockOf(each) === block && each.direction === 'forward');

/** An embedding has no gradient of its input, so all of its backward is weight part. */
function checkWeightPart({ name, block, operations }: Template, report: Report): void {
  if (block === 'embed') return;
  for (const { kind, writes } of operations) {
    const other = writes.find(({ buffer, accumulate }) => !buffer.startsWith('G.') || accumulate !== true);
    if (kind === 'compute' && other === undefined) continue;
    report.on(name, {
      code: 'BACKWARD_DIFFERS',
      message: `${name} writes ${other?.buffer ?? 'by an exchange'}: nobody waits for a weight part.`,
      hint: 'Move it to the input part.',
    });
  }
}

/** Gradients that are not named after their kernel. */
const otherGradients: Readonly<Partial<Record<KernelName, readonly KernelName[]>>> = {
  'dropout-add': ['dropout.dx'],
  nll: ['cross-entropy.dx'],
};

function gradientsOf(kernel: KernelName): readonly KernelName[] {
  return otherGradients[kernel] ?? kernelNames.filter((name) => name === `${kernel}.dx` || name === `${kernel}.dw`);
}

const kernelNames = Object.keys(kernels) as readonly KernelName[];

/** Backward kernels that a forward asks for: those that make a gradient which somebody is owed. */
function gradientKernels(forward: readonly Operation[], isTrained: IsTrained): readonly KernelName[] {
  const { calls, isOwed } = followForward(forward, isTrained);
  return calls.flatMap(({ operation: { kernel }, reads }) => {
    const owes = (index: number): boolean => isOwed(reads[index] ?? 0);
    const rules = gradientRules(kernel);
    return gradientsOf(kernel).filter((backward) => {
      const made = rules.filter((rule) => rule.backward === backward).flatMap(({ writes }) => writes);
      return made.length > 0 ? made.some(owes) : [...reads.keys()].some(owes);
    });
  });
}

function compareKernels(
  block: string,
  needed: readonly KernelName[],
  backward: readonly Operation[],
  report: Report,
): void {
  const expected = counted(needed);
  const gradients = new Set(kernelNames.flatMap(gradientsOf));
  const found = counted(kernelsOf(backward).filter((kernel) => gradients.has(kernel)));
  for (const kernel of new Set([...expected.keys(), ...found.keys()])) {
    const uses = expected.get(kernel) ?? 0;
    const answers = found.get(kernel) ?? 0;
    if (uses === answers) continue;
    report.on(`B.${block}`, {
      code: 'BACKWARD_DIFFERS',
      message: `The backward of a ${block} has ${answers} ${kernel}: its forward needs ${uses}.`,
      hint: 'Give each forward kernel its gradients, once.',
    });
  }
}

const kernelsOf = (operations: readonly Operation[]): readonly KernelName[] =>
  operations.flatMap((operation) => (operation.kind === 'compute' ? [operation.kernel] : []));

function compareParameters(
  block: string,
  forward: readonly Operation[],
  backward: readonly Operation[],
  isTrained: IsTrained,
  report: Report,
): void {
  const counts = (name: string): boolean => name !== 'none' && name !== 'y' && name !== 'dy' && isTrained(name);
  const uses = counted(forward.flatMap(({ reads }) => reads.filter(counts)));
  const gradients = backward.flatMap(({ writes }) => writes.map((write) => write.buffer));
  const answers = counted(gradients.flatMap((name) => (name.startsWith('G.') ? [name.slice('G.'.length)] : [])));
  for (const parameter of new Set([...uses.keys(), ...answers.keys()])) {
    const used = uses.get(parameter) ?? 0;
    const answered = answers.get(parameter) ?? 0;
    if (used === answered) continue;
    report.on(`B.${block}`, {
      code: 'BACKWARD_DIFFERS',
      message: `The backward of a ${block} adds ${answered} times to the gradient of ${parameter}: its forward uses it ${used} times.`,
      hint: 'Add to the gradient once for each use.',
    });
  }
}

function checkOperands(block: string, operation: Operation, forward: readonly Operation[], report: Report): void {
  if (operation.kind !== 'compute') return;
  const { kernel, reads } = operation;
  const answered = forward.filter((each) => each.kind === 'compute' && gradientsOf(each.kernel).includes(kernel));
  const operands = answered.map((each) => [...each.reads, ...each.writes.map(({ buffer }) => buffer)]);
  const used = reads.filter((name) => name !== 'none' && operands.some((names) => names.includes(name)));
  if (used.length === 0 || operands.some((names) => used.every((name) => names.includes(name)))) return;
  report.on(`B.${block}`, {
    code: 'BACKWARD_DIFFERS',
    message: `${kernel} in the backward of a ${block} reads ${used.join(' and ')}, which are of two calls of its forward kernel.`,
    hint: 'Read what one call read and wrote.',
  });
}

function checkAdds(block: string, { writes }: Operation, report: Report): void {
  const lost = writes.find(({ buffer, accumulate }) => buffer.startsWith('G.') && accumulate !== true);
  if (lost === undefined) return;
  report.on(`B.${block}`, {
    code: 'BACKWARD_DIFFERS',
    message: `The backward of a ${block} overwrites ${lost.buffer}, so that only the last micro-batch counts.`,
    hint: 'Add to it.',
  });
}

function counted<Name>(names: readonly Name[]): ReadonlyMap<Name, number> {
  const counts = new Map<Name, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
