/** @file Which operand of a backward kernel is the gradient of which operand of its forward kernel. Names of signatures say
 * it: `dx` is the gradient of `x`, an operand of the same name is the same value, and `res` is a gradient that is added.
 * What names do not say stands in the tables below.
 */
import { type KernelName, kernels } from '../kernels/index.ts';

/** An operand of a forward kernel. */
export interface Place {
  readonly side: 'reads' | 'writes';
  readonly index: number;
}

/** What one backward kernel does for one forward kernel. Lists are in order of its operands. */
export interface GradientRule {
  readonly backward: KernelName;
  /** Reads: the gradient of a written operand, a value of forward, or a gradient that is added to the first write. */
  readonly reads: readonly (
    | { readonly kind: 'gradient'; readonly of: number }
    | { readonly kind: 'value'; readonly of: Place }
    | { readonly kind: 'added' }
  )[];
  /** The forward operand that each write is the gradient of. */
  readonly writes: readonly number[];
  /** The gradient that is read is that of this operand, which lies inside the kernel: a bias behind a dropout. */
  readonly inside?: number;
}

/** Gradients that are not named after their kernel. */
const otherGradients: Readonly<Partial<Record<KernelName, readonly KernelName[]>>> = {
  add: ['bias.dw'],
  'add-bias': ['bias.dw'],
  'add-two': ['bias.dw'],
  'dropout-add': ['dropout.dx', 'bias.dw'],
  topk: ['topk.dx', 'no-gradient'],
  rowsumexp: ['cross-entropy.dx'],
  nll: [],
};

/** Forward operands that pass into the output unchanged, so that their gradient is that of the output. */
const passed: Readonly<Partial<Record<KernelName, readonly string[]>>> = {
  add: ['branch', 'res'],
  'add-two': ['branch', 'res'],
  'add-bias': ['x'],
  'dropout-add': ['res'],
  'expert-bias': ['x'],
  'row-bias': ['x'],
  position: ['x'],
  slice: ['x'],
};

/** Kernels that move values and compute none. */
const moves: ReadonlySet<KernelName> = new Set<KernelName>(['cast', 'kv', 'place', 'join-qkv']);

export const isMove = (kernel: KernelName): boolean => moves.has(kernel);

/** Names of gradients that are not `d` and the operand. */
const otherNames: Readonly<Partial<Record<KernelName, Readonly<Record<string, string>>>>> = {
  'gemm.dw': { db: 'bias' },
  'attention.block.dx': { dq: 'qkv', o: 'out', lse: 'stats' },
};

const kernelNames = Object.keys(kernels) as readonly KernelName[];

/** Places of the operands that pass into the output. */
export const passesOf = (kernel: KernelName): readonly number[] =>
  (passed[kernel] ?? []).map((name) => kernels[kernel].signature.reads.findIndex((each) => each.name === name));

/** The gradients of a forward kernel. */
export function gradientRules(kernel: KernelName): readonly GradientRule[] {
  const backward =
    otherGradients[kernel] ?? kernelNames.filter((name) => name === `${kernel}.dx` || name === `${kernel}.dw`);
  return backward.flatMap((each) => specialRules(kernel, each) ?? [namedRule(kernel, each)]);
}

/** Rules that names do not make. */
function specialRules(forward: KernelName, backward: KernelName): readonly GradientRule[] | undefined {
  const read = (index: number) => ({ kind: 'value', of: { side: 'reads', index } }) as const;
  const written = (index: number) => ({ kind: 'value', of: { side: 'writes', index } }) as const;
  const gradient = { kind: 'gradient', of: 0 } as const;
  switch (backward) {
    case 'bias.dw': {
      const biases = forward === 'add-two' ? [1, 2] : [1];
      const inside = forward === 'dropout-add' && { inside: 0 };
      return biases.map((index) => ({ backward, reads: [gradient], writes: [index], ...inside }));
    }
    case 'no-gradient':
      return [{ backward, reads: [written(1)], writes: [1] }];
    case 'cross-entropy.dx':
      return [{ backward, reads: [read(0), read(1), written(0), read(2)], writes: [0] }];
    case 'dropout.dx':
      return forward === 'dropout-add' ? [{ backward, reads: [gradient, written(1)], writes: [0] }] : undefined;
    default:
      return undefined;
  }
}

function namedRule(forward: KernelName, backward: KernelName): GradientRule {
  const names = {
    reads: kernels[forward].signature.reads.map(({ name }) => name),
    writes: kernels[forward].signature.writes.map(({ name }) => name),
  };
  const { reads, writes } = kernels[backward].signature;
  const other = otherNames[backward] ?? {};
  return {
    backward,
    reads: reads.map(({ name: own }, place) => {
      const name = other[own] ?? own;
      const of = placeOf(names, name);
      if (of) return { kind: 'value', of };
      if (own === 'res') return { kind: 'added' };
      const gradientOf = names.writes.indexOf(name.slice(1));
      return { kind: 'gradient', of: gradientOf < 0 ? place : gradientOf };
    }),
    writes: writes.map(({ name: own }, place) => {
      const index = names.reads.indexOf(other[own] ?? own.slice(1));
      return index < 0 ? place : index;
    }),
  };
}

function placeOf(names: Readonly<Record<Place['side'], readonly string[]>>, name: string): Place | undefined {
  for (const side of ['reads', 'writes'] as const) {
    const index = names[side].indexOf(name);
    if (index >= 0) return { side, index };
  }
  return undefined;
}
