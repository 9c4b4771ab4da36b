/** @file Operands and lanes of one operation.
 *
 * The law: a kernel has the operands of its row, `none` for an optional one that is absent; an exchange has one buffer
 * on each side that it has. Lanes are in order and one for each kind, so that no exchange holds up another kind:
 * kernels on `compute`, copies to and from host memory on `host.out` and `host.in`, what the host updates on `host.update`, gathers of weights on `data.gather`, sums of gradients on `data.reduce`, of shards over sets that
 * repeat each other on `data.replicate`, scalars on `control`,
 * a group along the pipeline on its own lane, other collectives on the lane of their axis, sends on `.out`, receives on
 * `.in`.
 */
import { allAxes, degreeOf } from '../../mesh/index.ts';
import { bookedAxis, degreesOf } from '../groups.ts';
import { kernels } from '../kernels/index.ts';
import type { OperandRule } from '../kernels/signature.ts';
import type { Collective, Compute, Lane, Operation, Program } from '../types.ts';
import { labelOf, type Report } from './report.ts';

/** Reports wrong operands, lanes, axes and peers of one operation. `place` is its line. */
export function verifyOperands(program: Program, place: string, operation: Operation, report: Report): void {
  const path = `${place} ${labelOf(operation)}`;
  const lanes = lanesOf(program, operation);
  if (!lanes.includes(operation.lane)) {
    report.on(path, {
      code: 'PROGRAM_LANE_WRONG',
      message: `${labelOf(operation)} stands on lane ${operation.lane}: it belongs on ${lanes.join(' or ')}.`,
      hint: 'Move it to that lane.',
    });
  }
  if (operation.kind === 'compute') verifyKernel(path, operation, report);
  else verifyCounts(path, operation, report);
  if (operation.kind === 'collective') {
    verifyAxis(program, path, operation, report);
    verifyAlgorithm(program, path, operation, report);
  }
  if (operation.kind === 'send' || operation.kind === 'recv') {
    const degree = degreeOf(program.mesh, 'pipeline');
    if (operation.peer >= 0 && operation.peer < degree) return;
    report.on(path, {
      code: 'PROGRAM_NAME_UNKNOWN',
      message: `Peer ${operation.peer} is not on the pipeline: coordinates are 0 to ${degree - 1}.`,
      hint: 'Name the neighbour.',
    });
  }
}

function lanesOf(program: Program, operation: Operation): readonly Lane[] {
  switch (operation.kind) {
    case 'compute':
      return kernelLanes(operation);
    case 'collective':
      return collectiveLanes(operation, bookedAxis(program, operation.axis));
    case 'send':
      return ['act.out', 'grad.out'];
    case 'recv':
      return ['act.in', 'grad.in'];
    case 'wait':
    case 'host':
    case 'alloc':
    case 'free':
      return ['host'];
    case 'mark':
      return ['host', 'compute'];
  }
}

function kernelLanes({ kernel }: Compute): readonly Lane[] {
  switch (kernel) {
    case 'copy-out':
      return ['host.out'];
    case 'copy-in':
      return ['host.in'];
    case 'adamw':
    case 'sgd':
      return ['compute', 'host.update'];
    default:
      return ['compute'];
  }
}

function collectiveLanes({ axis, collective }: Collective, booked: string): readonly Lane[] {
  if (booked === 'expert' || booked === 'expertTensor') return ['expert', 'control'];
  if (booked === 'data' || booked === 'expertData') {
    if (collective === 'all-reduce') return ['data.reduce', 'data.replicate', 'control'];
    return [collective === 'all-gather' ? 'data.gather' : 'data.reduce', 'control'];
  }
  if (booked === 'tensor') return ['tensor', 'control'];
  if (booked === 'context') return ['context', 'control'];
  if (axis === 'pipeline') return ['control'];
  return ['ends', 'tensor', 'control'];
}

function verifyKernel(path: string, { kernel, reads, writes }: Compute, report: Report): void {
  const { signature, variadic } = kernels[kernel];
  if (variadic) return;
  const names = writes.map((write) => write.buffer);
  for (const [rules, operands, side] of [
    [signature.reads, reads, 'reads'],
    [signature.writes, names, 'writes'],
  ] as const) {
    if (!fits(rules, operands)) {
      report.on(path, {
        code: 'PROGRAM_OPERANDS_WRONG',
        message: `${kernel} ${side} ${operands.join(' ') || 'nothing'}: its row has ${rules.map(ruleWords).join(' ')}.`,
        hint: 'Give the operands of the row in its order.',
      });
    }
  }
}

const ruleWords = ({ name, optional }: OperandRule): string => (optional ? `${name}?` : name);

const fits = (rules: readonly OperandRule[], operands: readonly string[]): boolean =>
  operands.length <= rules.length &&
  rules.every((rule, index) => rule.optional || (operands[index] ?? 'none') !== 'none');

const counts: Readonly<Partial<Record<Operation['kind'], readonly [reads: number, writes: number]>>> = {
  collective: [1, 1],
  send: [1, 0],
  recv: [0, 1],
};

function verifyCounts(path: string, { kind, reads, writes }: Operation, report: Report): void {
  const expected = counts[kind];
  // Exchanges of routed rows read their table of counts too.
  const most = kind === 'collective' ? 2 : expected?.[0];
  if (expected === undefined) return;
  if (reads.length >= expected[0] && reads.length <= (most ?? 0) && writes.length === expected[1]) return;
  report.on(path, {
    code: 'PROGRAM_OPERANDS_WRONG',
    message: `It reads ${reads.length} and writes ${writes.length} buffers: a ${kind} reads ${expected[0]} and writes ${expected[1]}.`,
    hint: 'Name one buffer on each side.',
  });
}

function verifyAxis(program: Program, path: string, { axis }: Collective, report: Report): void {
  const names = [...allAxes(program.mesh).map(({ name }) => name as string), ...program.groups.map(({ name }) => name)];
  if (names.includes(axis)) return;
  report.on(path, {
    code: 'PROGRAM_NAME_UNKNOWN',
    message: `Axis ${axis} is named: the mesh has ${names.join(', ')}.`,
    hint: 'Use one of those.',
  });
}

/** Law: trees and halves take all-reduces; two tiers take whole nodes, and never routed rows, whose pieces differ. */
function verifyAlgorithm(program: Program, path: string, operation: Collective, report: Report): void {
  const { collective, axis, algorithm, inner, reads } = operation;
  const degree = degreesOf(program)(axis);
  const find = (message: string, hint: string): void =>
    report.on(path, { code: 'PROGRAM_ALGORITHM_WRONG', message, hint });
  if ((algorithm === 'hierarchical') !== (inner !== undefined)) {
    find(`A ${algorithm} ${collective} names ${inner ?? 'no'} members of a node.`, 'Give inner to hierarchical alone.');
  } else if (inner !== undefined && degree % inner !== 0) {
    find(`${inner} of ${degree} members share a node: they do not fill nodes.`, `Use a divisor of ${degree}, or ring.`);
  } else if ((algorithm === 'tree' || algorithm === 'halving-doubling') && collective !== 'all-reduce') {
    const name = algorithm === 'tree' ? 'Trees' : 'Halves';
    find(`${name} run all-reduces: this is another kind, ${collective}.`, 'Use ring.');
  } else if (reads.length > 1 && algorithm !== 'ring' && algorithm !== 'direct') {
    find(`Pieces of routed rows differ in size: ${algorithm} runs equal ones.`, 'Use ring.');
  }
}
