/** @file Names and numbers of a program that point at each other: every one must lead somewhere, so that `expandList`
 * can write the program out. Whether the operations make sense together is the verifier's business.
 */
import type { Code } from '../../errors/index.ts';
import { quoteName } from '../../errors/index.ts';
import { degreeOf } from '../../mesh/index.ts';
import type { Dim } from '../../tensor/index.ts';
import type { BufferDeclaration, Operation, Program, Template } from '../types.ts';
import { checkList } from './list-references.ts';
import { type Finding, type Path, suggest } from './read-shape.ts';

/** What the checks share: the program, where to put findings, and the names that are known everywhere. */
export interface Checks {
  readonly program: Program;
  readonly axes: readonly string[];
  readonly templates: ReadonlyMap<string, { readonly template: Template; readonly index: number }>;
  /** Operands of templates that have been complained about, once for all calls. */
  readonly reported: Set<string>;
  readonly add: (path: Path, code: Code, message: string, hint?: string) => void;
}

/** Holds a program of the right shape against itself. */
export function findBrokenReferences(program: Program): readonly Finding[] {
  const findings: Finding[] = [];
  const checks: Checks = {
    program,
    axes: [...program.mesh.axes.map((axis) => axis.name), ...program.groups.map((group) => group.name)],
    templates: new Map(program.templates.map((template, index) => [template.name, { template, index }])),
    reported: new Set(),
    add: (path, code, message, hint) => findings.push({ path, code, message, ...(hint !== undefined && { hint }) }),
  };
  checkUnique(checks, ['mesh', 'axes'], 'axis', program.mesh.axes);
  checkGroups(checks);
  checkBuffers(checks, ['buffers'], program.buffers);
  checkUnique(checks, ['buffers'], 'buffer', program.buffers);
  checkUnique(checks, ['templates'], 'template', program.templates);
  for (const [index, template] of program.templates.entries()) {
    for (const [line, operation] of template.operations.entries()) {
      checkOperation(checks, ['templates', index, 'operations', line], operation);
    }
  }
  checkUnique(checks, ['lists'], 'list', program.lists);
  for (const [index, list] of program.lists.entries()) {
    const path: Path = ['lists', index];
    const degree = degreeOf(program.mesh, 'pipeline');
    checkBelow(checks, [...path, 'pipeline'], 'pipeline coordinate', list.pipeline, degree);
    if (program.lists.findIndex((other) => other.pipeline === list.pipeline) < index) {
      checks.add(
        [...path, 'pipeline'],
        'PROGRAM_NAME_TWICE',
        `Two lists stand at pipeline coordinate ${list.pipeline}.`,
      );
    }
    checkBuffers(checks, [...path, 'buffers'], list.buffers);
    checkList(checks, path, list);
  }
  return findings;
}

function checkGroups(checks: Checks): void {
  const { program } = checks;
  checkUnique(checks, ['groups'], 'group', program.groups);
  for (const [index, group] of program.groups.entries()) {
    const path: Path = ['groups', index];
    if (program.mesh.axes.some((axis) => axis.name === group.name)) {
      checks.add([...path, 'name'], 'PROGRAM_NAME_TWICE', `${quoteName(group.name)} is an axis and a group.`);
    }
    const degree = degreeOf(program.mesh, group.along);
    for (const [at, coordinate] of group.coordinates.entries()) {
      checkBelow(checks, [...path, 'coordinates', at], `${group.along} coordinate`, coordinate, degree);
      if (group.coordinates.indexOf(coordinate) < at) {
        checks.add(
          [...path, 'coordinates', at],
          'PROGRAM_NAME_TWICE',
          `Coordinate ${coordinate} is in the group twice.`,
        );
      }
    }
  }
}

function checkBuffers(checks: Checks, path: Path, buffers: readonly BufferDeclaration[]): void {
  for (const [index, buffer] of buffers.entries()) {
    checkDims(checks, [...path, index, 'dims'], buffer.dims);
    for (const [at, state] of (buffer.partial ?? []).entries()) {
      checkAxis(checks, [...path, index, 'partial', at, 'over'], state.over);
    }
  }
}

/** Cuts name axes or groups. */
export function checkDims(checks: Checks, path: Path, dims: readonly Dim[]): void {
  for (const [index, dim] of dims.entries()) {
    for (const [at, axis] of (dim.cut ?? []).entries()) checkAxis(checks, [...path, index, 'cut', at], axis);
  }
}

/** What an operation names beside its operands. */
export function checkOperation(checks: Checks, path: Path, operation: Operation): void {
  if (operation.kind === 'collective') checkAxis(checks, [...path, 'axis'], operation.axis);
  if (operation.kind === 'send' || operation.kind === 'recv') {
    const degree = degreeOf(checks.program.mesh, 'pipeline');
    checkBelow(checks, [...path, 'peer'], 'pipeline coordinate', operation.peer, degree);
  }
}

export const checkAxis = (checks: Checks, path: Path, axis: string): void =>
  checkKnown(checks, path, 'axis or group', axis, checks.axes);

/** `name` is one of `known`. */
export function checkKnown(checks: Checks, path: Path, what: string, name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  const message = `There is no ${what} ${quoteName(name)}.`;
  checks.add(path, 'PROGRAM_NAME_UNKNOWN', message, suggest(name, known));
}

/** `value` is a coordinate or index under `limit`. */
export function checkBelow(checks: Checks, path: Path, what: string, value: number, limit: number): void {
  if (value < limit) return;
  const range = limit === 1 ? '0 is the only one' : `it goes from 0 to ${limit - 1}`;
  checks.add(path, 'PROGRAM_OUT_OF_PLACE', `There is no ${what} ${value}: ${range}.`);
}

/** No two of `things` have one name. */
export function checkUnique(
  checks: Checks,
  path: Path,
  what: string,
  things: readonly { readonly name: string }[],
): void {
  const seen = new Set<string>();
  for (const [index, { name }] of things.entries()) {
    if (seen.has(name)) {
      checks.add([...path, index, 'name'], 'PROGRAM_NAME_TWICE', `There are two of ${what} ${quoteName(name)}.`);
    }
    seen.add(name);
  }
}
