/** @file What the checks of references share. */
import { type Code, quoteName } from '../../errors/index.ts';
import { degreeOf } from '../../mesh/index.ts';
import type { Dim } from '../../tensor/index.ts';
import type { Operation, Program, Template } from '../types.ts';
import { type Path, suggest } from './read-shape.ts';

/** What the checks share: the program, where to put findings, and the names that are known everywhere. */
export interface Checks {
  readonly program: Program;
  readonly axes: readonly string[];
  readonly templates: ReadonlyMap<string, { readonly template: Template; readonly index: number }>;
  /** Operands of templates that have been complained about, once for all calls. */
  readonly reported: Set<string>;
  readonly add: (path: Path, code: Code, message: string, hint?: string) => void;
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
