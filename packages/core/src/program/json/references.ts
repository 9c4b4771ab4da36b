/** @file Names and numbers of a program that point at each other: every one must lead somewhere, so that `expandList`
 * can write the program out. Whether the operations make sense together is the verifier's business.
 */
import { quoteName } from '../../errors/index.ts';
import { allAxes, degreeOf, type Mesh, strideOf, worldSize } from '../../mesh/index.ts';
import type { BufferDeclaration, Program } from '../types.ts';
import { type Checks, checkAxis, checkBelow, checkDims, checkOperation, checkUnique } from './checks.ts';
import { checkList } from './list-references.ts';
import type { Finding, Path } from './read-shape.ts';

/** Holds a program of the right shape against itself. */
export function findBrokenReferences(program: Program): readonly Finding[] {
  const findings: Finding[] = [];
  const checks: Checks = {
    program,
    axes: [...allAxes(program.mesh).map((axis) => axis.name), ...program.groups.map((group) => group.name)],
    templates: new Map(program.templates.map((template, index) => [template.name, { template, index }])),
    reported: new Set(),
    add: (path, code, message, hint) => findings.push({ path, code, message, ...(hint !== undefined && { hint }) }),
  };
  checkUnique(checks, ['mesh', 'axes'], 'axis', program.mesh.axes);
  checkExperts(checks);
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

/** The expert grid is of the same ranks, and its pipeline is the dense grid's. */
function checkExperts(checks: Checks): void {
  const { mesh } = checks.program;
  if (mesh.experts === undefined) return;
  const experts: Mesh = { axes: mesh.experts };
  const path: Path = ['mesh', 'experts'];
  checkUnique(checks, path, 'axis', mesh.experts);
  const same =
    worldSize(experts) === worldSize(mesh) &&
    degreeOf(experts, 'pipeline') === degreeOf(mesh, 'pipeline') &&
    strideOf(experts, 'pipeline') === strideOf(mesh, 'pipeline');
  if (same) return;
  const message = `The expert grid has ${worldSize(experts)} ranks and pipeline ${degreeOf(experts, 'pipeline')}: it must be the ${worldSize(mesh)} ranks of the mesh with the same pipeline.`;
  checks.add(path, 'PROGRAM_OUT_OF_PLACE', message);
}

function checkGroups(checks: Checks): void {
  const { program } = checks;
  checkUnique(checks, ['groups'], 'group', program.groups);
  for (const [index, group] of program.groups.entries()) {
    const path: Path = ['groups', index];
    if (allAxes(program.mesh).some((axis) => axis.name === group.name)) {
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
