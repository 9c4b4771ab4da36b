/** @file Programs as JSON: out, and in again with everything checked. The published schema is
 * docs/reference/program.schema.json.
 */
import { assertInvariant, type Issue, issue } from '../../errors/index.ts';
import type { Program } from '../types.ts';
import { programShape } from './program-shape.ts';
import { type Finding, type Path, readShape } from './read-shape.ts';
import { findBrokenReferences } from './references.ts';

export { type JsonSchema, programJsonSchema } from './schema.ts';

/** A program when nothing is wrong with it, and all that is wrong otherwise. */
export interface ProgramReading {
  readonly program?: Program;
  readonly issues: readonly Issue[];
}

/** The program as plain JSON with keys in the order of the schema, whatever order it was built in. */
export function programToJson(program: Program): Program {
  const findings: Finding[] = [];
  const copy = readShape(program, programShape, [], findings);
  assertInvariant(findings.length === 0, () => `a program breaks its schema: ${findings.map(describe).join('; ')}`);
  return copy as Program;
}

/** A program from a parsed JSON value of unknown origin. Never throws. */
export function programFromJson(value: unknown): ProgramReading {
  const { program, findings } = readProgram(value);
  const issues = findings.map(({ path, code, message, hint }) => issue(code, pathText(path), message, hint));
  return { ...(program && { program }), issues };
}

/** Shape first, references when the shape is right. */
export function readProgram(value: unknown): { readonly program?: Program; readonly findings: readonly Finding[] } {
  const findings: Finding[] = [];
  const copy = readShape(value, programShape, [], findings);
  if (findings.length > 0) return { findings };
  const program = copy as Program;
  const broken = findBrokenReferences(program);
  return broken.length > 0 ? { findings: broken } : { program, findings: [] };
}

/** A place in a program as text: `lists[0].items[3].operation`. */
export const pathText = (path: Path): string =>
  path.map((key, index) => (typeof key === 'number' ? `[${key}]` : index === 0 ? key : `.${key}`)).join('');

const describe = ({ path, message }: Finding): string => `${pathText(path)}: ${message}`;
