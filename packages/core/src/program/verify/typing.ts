/** @file Types the dims of one kernel call by the signature of its row.
 *
 * The law: operands share labels, and a label is one dim, with one size and one cut. What is marked whole is cut by
 * nobody. A label of the inputs that an output lacks is summed over, so each rank of an axis that cuts it holds one
 * part of the sum: that output comes out partial over the axis. It may not be cut over that axis too: what other ranks
 * would add to the piece is lost. Attention covers each pair of tokens once because its
 * sequence is marked whole: a rank sees all keys of its queries, and the heads, by which it is cut, do not mix. What
 * passes between the grids of the mesh is cut into as many pieces on both sides: every token of a rank is a row of it.
 */
import type { Degrees, Dim } from '../../tensor/index.ts';
import type { ExpandedOperation, Operand } from '../expand.ts';
import { type KernelRow, kernels } from '../kernels/index.ts';
import type { DimRule, OperandRule } from '../kernels/signature.ts';
import type { Compute } from '../types.ts';
import { complete, cutOf, cutWords, type PartialSet, partialOver, sameAxes, union } from './partial.ts';
import type { Finding } from './report.ts';

/** What is true of a kernel call whatever its operands hold. */
export interface KernelTyping {
  readonly findings: readonly Finding[];
  /** For each write, the state that summing over cut dims leaves. */
  readonly contracted: readonly PartialSet[];
}

/** Gives the typing of a call, remembered by operation and dims: calls of a template repeat. */
export type TypeKernel = (expanded: ExpandedOperation, operation: Compute) => KernelTyping;

export function createKernelTyping(degrees: Degrees): TypeKernel {
  const known = new Map<Compute, { dims: readonly unknown[]; typing: KernelTyping }[]>();
  return (expanded, operation) => {
    const dims = [...expanded.reads, ...expanded.writes.map((write) => write.operand)].map((operand) => operand?.dims);
    const entries = known.get(operation) ?? [];
    known.set(operation, entries);
    const found = entries.find((entry) => entry.dims.every((each, index) => each === dims[index]));
    if (found) return found.typing;
    const typing = typeKernel(expanded, operation, degrees);
    entries.push({ dims, typing });
    return typing;
  };
}

function typeKernel(expanded: ExpandedOperation, operation: Compute, degrees: Degrees): KernelTyping {
  const row: KernelRow = kernels[operation.kernel];
  const binding = createBinding(operation, degrees);
  const bind = (rules: readonly OperandRule[], operands: readonly (Operand | undefined)[]): void => {
    rules.forEach((rule, index) => {
      const operand = operands[index];
      if (operand && !rule.steers) binding.operand(rule, operand);
    });
  };
  bind(row.signature.reads, expanded.reads);
  const inputs = binding.cuts();
  const passing = binding.passing();
  bind(
    row.signature.writes,
    expanded.writes.map((write) => write.operand),
  );
  const contracted = expanded.writes.map((_, index) => {
    const rule = row.signature.writes[index];
    const kept = new Set(rule?.dims.map((dim) => dim.label));
    if (rule?.ellipsis !== undefined) kept.add('..');
    const axes = [...inputs]
      .flatMap(([label, cut]) => (kept.has(label) ? [] : cut))
      .filter((axis) => !passing.has(axis));
    loseParts(expanded, index, axes, operation, degrees, binding.findings);
    return axes.reduce<PartialSet>((set, axis) => union(set, [partialOver(axis, row.reduce)]), complete);
  });
  return { findings: binding.findings, contracted };
}

/** Reports an output that is summed over an axis and cut by it: each rank would keep its part of its piece only. */
function loseParts(
  { writes }: ExpandedOperation,
  index: number,
  summed: readonly string[],
  { kernel }: Compute,
  degrees: Degrees,
  findings: Finding[],
): void {
  const operand = writes[index]?.operand;
  const dim = operand?.dims.find((each) => cutOf(each, degrees).some((axis) => summed.includes(axis)));
  if (operand === undefined || dim === undefined) return;
  const axis = cutOf(dim, degrees).find((each) => summed.includes(each)) ?? '';
  const name = operand.view === undefined ? operand.instance.name : `${operand.view.name} in ${operand.instance.name}`;
  findings.push({
    code: 'CUTS_DISAGREE',
    message: `${kernel} sums over what ${axis} cuts: ${name} is ${cutWords([axis])} along ${dim.label} too, so other ranks' parts of a piece are lost.`,
    hint: `Gather what is summed over ${axis} first.`,
  });
}

/** One label as the operands so far have it. */
interface Bound {
  readonly bridges: boolean;
  readonly cut: readonly string[];
  size: number | undefined;
  parts: readonly number[] | undefined;
  readonly operand: string;
}

/** Pieces of what passes between the grids, in the first operand that says so. */
interface Bridge {
  readonly operand: string;
  readonly pieces: number;
}

interface Binding {
  readonly findings: Finding[];
  readonly operand: (rule: OperandRule, operand: Operand) => void;
  /** Cuts by label; the dims of `..` together. */
  readonly cuts: () => ReadonlyMap<string, readonly string[]>;
  /** Axes whose pieces come past in turn. */
  readonly passing: () => ReadonlySet<string>;
}

function createBinding({ kernel }: Compute, degrees: Degrees): Binding {
  const findings: Finding[] = [];
  const labels = new Map<string, Bound>();
  let bridge: Bridge | undefined;
  const passing = new Set<string>();
  const check = (rule: DimRule, dim: Dim, operand: string): void => {
    const cut = cutOf(dim, degrees);
    if (rule.passing) for (const axis of cut) passing.add(axis);
    const name = rule.fixed === undefined ? rule.label : `the dim of ${rule.fixed}`;
    if ((rule.whole || rule.fixed !== undefined) && cut.length > 0) findings.push(notWhole(kernel, name, operand, cut));
    if (rule.fixed !== undefined) {
      if (dim.size !== rule.fixed) findings.push(sizes(kernel, name, operand, dim.size, 'the row', rule.fixed));
      return;
    }
    const size = rule.sizeFree ? undefined : dim.size;
    const parts = rule.sizeFree || cut.length === 0 ? undefined : (dim.parts ?? [dim.size]);
    const bound = labels.get(rule.label);
    if (bound === undefined) {
      labels.set(rule.label, { bridges: rule.bridges, cut, size, parts, operand });
      return;
    }
    if (!sameAxes(bound.cut, cut)) findings.push(cuts(kernel, name, operand, cut, bound));
    if (size !== undefined && bound.size !== undefined && size !== bound.size) {
      findings.push(sizes(kernel, name, operand, size, bound.operand, bound.size));
    } else if (parts && bound.parts && `${parts}` !== `${bound.parts}`) {
      findings.push(fusedApart(kernel, name, operand, bound.operand));
    }
    bound.size ??= size;
    bound.parts ??= parts;
  };
  const operand = (rule: OperandRule, { instance, view, dims }: Operand): void => {
    const name = view === undefined ? instance.name : `${view.name} in ${instance.name}`;
    const spread = dims.length - rule.dims.length;
    if (rule.ellipsis === undefined ? spread !== 0 : spread < 0) {
      findings.push(rank(kernel, name, dims.length, rule));
      return;
    }
    const start = rule.ellipsis ?? rule.dims.length;
    let pieces: number | undefined;
    dims.forEach((dim, index) => {
      const inside = rule.ellipsis !== undefined && index >= start && index < start + spread;
      const dimRule = inside ? spreadRule(index - start) : rule.dims[index < start ? index : index - spread];
      if (!dimRule) return;
      check(dimRule, dim, name);
      if (dimRule.bridges) pieces = cutOf(dim, degrees).reduce((ways, axis) => ways * degrees(axis), pieces ?? 1);
    });
    if (pieces === undefined) return;
    if (bridge !== undefined && bridge.pieces !== pieces) findings.push(pieceCounts(kernel, name, pieces, bridge));
    bridge ??= { operand: name, pieces };
  };
  return { findings, operand, cuts: () => cutsByLabel(labels), passing: () => passing };
}

const spreadRule = (index: number): DimRule => ({
  label: `..${index}`,
  whole: false,
  sizeFree: false,
  fixed: undefined,
  bridges: false,
});

function cutsByLabel(labels: ReadonlyMap<string, Bound>): ReadonlyMap<string, readonly string[]> {
  const all = new Map<string, readonly string[]>();
  for (const [label, { cut, bridges }] of labels) {
    if (bridges) continue;
    const name = label.startsWith('..') ? '..' : label;
    all.set(name, [...(all.get(name) ?? []), ...cut]);
  }
  return all;
}

const notWhole = (kernel: string, label: string, operand: string, cut: readonly string[]): Finding => ({
  code: 'DIM_NOT_WHOLE',
  message: `${kernel} needs ${label} whole: ${operand} is ${cutWords(cut)}.`,
  hint: `Gather it over ${cut.join(' and ')} first.`,
});

const cuts = (kernel: string, label: string, operand: string, cut: readonly string[], bound: Bound): Finding => ({
  code: 'CUTS_DISAGREE',
  message: `${kernel} takes ${label} with one cut: in ${operand} it is ${cutWords(cut)}, in ${bound.operand} ${cutWords(bound.cut)}.`,
  hint: 'Gather or scatter one of them first.',
});

const pieceCounts = (kernel: string, operand: string, pieces: number, bridge: Bridge): Finding => ({
  code: 'CUTS_DISAGREE',
  message: `${kernel} passes tokens between the grids: ${operand} is cut into ${pieces} pieces, ${bridge.operand} into ${bridge.pieces}.`,
  hint: 'Cut both over all ranks that hold different tokens.',
});

const sizes = (
  kernel: string,
  label: string,
  operand: string,
  size: number,
  other: string,
  otherSize: number,
): Finding => ({
  code: 'SHAPES_DISAGREE',
  message: `${kernel} takes ${label} with one size: in ${operand} it is ${size}, in ${other} ${otherSize}.`,
  hint: 'Declare both with one size.',
});

const fusedApart = (kernel: string, label: string, operand: string, other: string): Finding => ({
  code: 'SHAPES_DISAGREE',
  message: `${kernel} takes ${label} with one cut: ${operand} and ${other} fuse different parts along it.`,
  hint: 'Give both the same parts.',
});

const rank = (kernel: string, operand: string, dims: number, rule: OperandRule): Finding => ({
  code: 'SHAPES_DISAGREE',
  message: `${kernel} takes ${rule.name} with ${rule.ellipsis === undefined ? '' : 'at least '}${rule.dims.length} dims: ${operand} has ${dims}.`,
  hint: 'Declare the operand with the dims of the row.',
});
