/** @file The signature of a kernel: which dims its operands share, and so which cuts and partial states it takes.
 *
 * `x:[.. k] w:[n k] bias?:[n] -> y:[.. n]` reads: dims with one label have one size and one cut; `..` stands for any
 * dims. A label of the inputs that is missing in an output is summed over: where it is cut, that output is
 * partial over the axes of the cut. Marks: `bias?` optional operand; `k!` must be whole; `p*` shares the cut of `p` but
 * not its size; `dy~` may be partial, and outputs marked `~` take its partial state over; a number is a fixed size. `s^`
 * passes from one grid of the mesh to the other: dims with that mark are cut into as many pieces in every operand, by the
 * axes of either grid. `rc#` only steers: its dims are its own. `u&` may be cut by what comes past in turn (keys and values
 * of a ring): a sum over the cut of another dim is then nobody's, and the rule of attention sees to it that each pair is met.
 */
import { assertInvariant } from '../../errors/index.ts';

export interface DimRule {
  readonly label: string;
  readonly whole: boolean;
  readonly sizeFree: boolean;
  readonly fixed: number | undefined;
  /** Is cut, with the operand's other such dims, into as many pieces as those of the other operands, by any axes. */
  readonly bridges: boolean;
  /** Pieces of other ranks come past in turn. */
  readonly passing?: true;
}

export interface OperandRule {
  readonly name: string;
  readonly optional: boolean;
  /** The operand may be (input) or takes over (output) a partial state. */
  readonly linear: boolean;
  /** Says where things are and holds none of them: its dims say nothing of the others. */
  readonly steers: boolean;
  /** Where `..` (any dims) stands among the dims; undefined where it does not. */
  readonly ellipsis: number | undefined;
  readonly dims: readonly DimRule[];
}

export interface Signature {
  readonly reads: readonly OperandRule[];
  readonly writes: readonly OperandRule[];
}

export function parseSignature(text: string): Signature {
  const [reads = '', writes = ''] = text.split('->');
  return { reads: operands(reads), writes: operands(writes) };
}

const operands = (text: string): readonly OperandRule[] =>
  [...text.matchAll(/([\w-]+)([?~#]*):\[([^\]]*)\]/g)].map(([, name = '', marks = '', body = '']) => {
    const words = body.split(' ').filter((word) => word !== '');
    const ellipsis = words.indexOf('..');
    return {
      name,
      optional: marks.includes('?'),
      linear: marks.includes('~'),
      steers: marks.includes('#'),
      ellipsis: ellipsis < 0 ? undefined : ellipsis,
      dims: words.filter((word) => word !== '..').map(dimRule),
    };
  });

function dimRule(word: string): DimRule {
  const match = /^(\w+)([!*^&]*)$/.exec(word);
  assertInvariant(match !== null, () => `bad dim '${word}' in a kernel signature`);
  const label = match[1] ?? '';
  const marks = match[2] ?? '';
  const fixed = /^\d+$/.test(label) ? Number(label) : undefined;
  const passing = marks.includes('&') && { passing: true as const };
  const bridges = marks.includes('^');
  return { label, whole: marks.includes('!'), sizeFree: marks.includes('*'), fixed, bridges, ...passing };
}
