/** @file Names and numbers inside one rank list, and the operands of its lines and of the templates that it calls. */
import { quoteName } from '../../errors/index.ts';
import { blocksOf } from '../expand.ts';
import { boundaryName, declaredName, withoutSlice } from '../names.ts';
import type { BufferDeclaration, Call, Item, Operation, Program, RankList, Template } from '../types.ts';
import { type Checks, checkAxis, checkBelow, checkDims, checkKnown, checkOperation, checkUnique } from './checks.ts';
import type { Path } from './read-shape.ts';
import { suggest } from './read-shape.ts';

/** The names that the lines of one list may use. */
interface Names {
  readonly list: string;
  readonly declarations: ReadonlyMap<string, BufferDeclaration>;
  /** `block:name` of a parameter to the bucket that holds it. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly buckets: readonly string[];
  /** Template and block whose operands have been looked at. */
  readonly seen: Set<string>;
}

export function checkList(checks: Checks, path: Path, list: RankList): void {
  const { program } = checks;
  const all = [...program.buffers, ...list.buffers];
  const shared = new Set(program.buffers.map((buffer) => buffer.name));
  for (const [index, { name }] of list.buffers.entries()) {
    if (!shared.has(name)) continue;
    const message = `Buffer ${quoteName(name)} is declared for the program and for list ${quoteName(list.name)}.`;
    checks.add([...path, 'buffers', index, 'name'], 'PROGRAM_NAME_TWICE', message);
  }
  checkUnique(checks, [...path, 'buffers'], 'buffer', list.buffers);
  checkBuckets(checks, path, list);
  const names: Names = {
    list: list.name,
    declarations: new Map(all.map((buffer) => [buffer.name, buffer])),
    parameters: new Map(
      list.buckets.flatMap((bucket) => bucket.views.map((view) => [`${view.block}:${view.name}`, bucket.name])),
    ),
    buckets: list.buckets.map((bucket) => bucket.name),
    seen: new Set(),
  };
  for (const [index, buffer] of list.buffers.entries()) {
    const at = [...path, 'buffers', index];
    if (buffer.bucket !== undefined) checkKnown(checks, [...at, 'bucket'], 'bucket', buffer.bucket, names.buckets);
    if (buffer.shardOf !== undefined) {
      checkKnown(checks, [...at, 'shardOf'], 'buffer', buffer.shardOf, [...names.declarations.keys()]);
    }
  }
  for (const [index, item] of list.items.entries()) checkItem(checks, [...path, 'items', index], item, index, names);
}

function checkBuckets(checks: Checks, path: Path, list: RankList): void {
  checkUnique(checks, [...path, 'buckets'], 'bucket', list.buckets);
  for (const [index, bucket] of list.buckets.entries()) {
    const at = [...path, 'buckets', index];
    if (bucket.copies !== undefined) checkAxis(checks, [...at, 'copies'], bucket.copies);
    const seen = new Set<string>();
    for (const [row, view] of bucket.views.entries()) {
      const key = `${view.block}:${view.name}`;
      if (seen.has(key)) {
        const message = `Block ${view.block} has two of parameter ${quoteName(view.name)}.`;
        checks.add([...at, 'views', row, 'name'], 'PROGRAM_NAME_TWICE', message);
      }
      seen.add(key);
      checkBlock(checks, [...at, 'views', row, 'block'], view.block);
      checkDims(checks, [...at, 'views', row, 'dims'], view.dims);
    }
  }
  checkUnique(checks, [...path, 'units'], 'unit', list.units);
  const known = list.buckets.map((bucket) => bucket.name);
  for (const [index, unit] of list.units.entries()) {
    for (const [at, name] of unit.buckets.entries()) {
      checkKnown(checks, [...path, 'units', index, 'buckets', at], 'bucket', name, known);
    }
  }
}

function checkItem(checks: Checks, path: Path, item: Item, index: number, names: Names): void {
  if (item.id !== index + 1) {
    checks.add([...path, 'id'], 'PROGRAM_ORDER_WRONG', `Line ${item.id} stands where line ${index + 1} has to be.`);
  }
  for (const [at, need] of item.needs.entries()) {
    if (need > index) {
      const message = `Line ${index + 1} needs line ${need}, which is not earlier.`;
      checks.add([...path, 'needs', at], 'PROGRAM_ORDER_WRONG', message);
    }
  }
  if (item.kind === 'call') return checkCall(checks, path, item, names);
  checkOperation(checks, [...path, 'operation'], item.operation);
  eachOperand(item.operation, [...path, 'operation'], (name, at) => checkInstance(checks, at, name, names));
}

function checkCall(checks: Checks, path: Path, call: Call, names: Names): void {
  const { program, templates } = checks;
  checkBelow(checks, [...path, 'microBatch'], 'micro-batch', call.microBatch, program.microBatches);
  for (const bucket of Object.keys(call.using ?? {})) {
    checkKnown(checks, [...path, 'using', bucket], 'bucket', bucket, names.buckets);
  }
  const known = templates.get(call.template);
  if (known === undefined) {
    return checkKnown(checks, [...path, 'template'], 'template', call.template, [...templates.keys()]);
  }
  const { template, index } = known;
  const placed = [call.first, call.last].every((block) => hasBlock(program, template, block));
  if (!placed) {
    const message = `Template ${quoteName(template.name)} cannot run for blocks ${call.first} to ${call.last}.`;
    return checks.add([...path, 'first'], 'PROGRAM_OUT_OF_PLACE', message, blockRange(program, template));
  }
  for (const block of blocksOf(call)) {
    const key = `${template.name}:${block}`;
    if (names.seen.has(key)) continue;
    names.seen.add(key);
    for (const [line, operation] of template.operations.entries()) {
      const at: Path = ['templates', index, 'operations', line];
      eachOperand(operation, at, (name, place) => checkOperand(checks, place, name, block, names));
    }
  }
}

function hasBlock(program: Program, template: Template, block: number): boolean {
  if (template.block === 'embed') return block === -1;
  if (template.block === 'head') return block === program.layers;
  return block >= 0 && block < program.layers;
}

function blockRange(program: Program, template: Template): string {
  if (template.block === 'embed') return 'An embed template runs for block -1.';
  if (template.block === 'head') return `A head template runs for block ${program.layers}.`;
  return `A layer template runs for blocks 0 to ${program.layers - 1}.`;
}

function checkBlock(checks: Checks, path: Path, block: number): void {
  if (block <= checks.program.layers) return;
  const message = `There is no block ${block}: the last one, the head, is ${checks.program.layers}.`;
  checks.add(path, 'PROGRAM_OUT_OF_PLACE', message);
}

function eachOperand(operation: Operation, path: Path, visit: (name: string, path: Path) => void): void {
  for (const [index, name] of operation.reads.entries()) {
    if (name !== 'none') visit(name, [...path, 'reads', index]);
  }
  for (const [index, { buffer }] of operation.writes.entries()) visit(buffer, [...path, 'writes', index, 'buffer']);
}

/** A name in a line of the list: an instance, or the summed slice of a bucket. */
function checkInstance(checks: Checks, path: Path, name: string, names: Names): void {
  const full = withoutSlice(name);
  const declaration = names.declarations.get(declaredName(full));
  if (declaration === undefined) {
    const known = [...names.declarations.keys()];
    const message = `There is no buffer ${quoteName(full)}.`;
    return checks.add(path, 'PROGRAM_NAME_UNKNOWN', message, suggest(declaredName(full), known));
  }
  if (full === name || declaration.dims.length > 0) return;
  checks.add(path, 'PROGRAM_OUT_OF_PLACE', `${quoteName(full)} is a scalar and has no summed part.`);
}

/** A name in a template, seen from one block: a buffer, or a parameter of the block or of the embedding. */
function checkOperand(checks: Checks, path: Path, name: string, block: number, names: Names): void {
  const base = boundaryName(name);
  if (names.declarations.has(base)) return;
  const gradient = name.startsWith('G.');
  const parameter = gradient ? name.slice(2) : name;
  const bucket = names.parameters.get(`${block}:${parameter}`) ?? names.parameters.get(`-1:${parameter}`);
  const container = `${gradient ? 'G' : 'W'}.${bucket}`;
  if (bucket !== undefined && names.declarations.has(container)) return;
  const key = path.join('.');
  if (checks.reported.has(key)) return;
  checks.reported.add(key);
  const where = `in block ${block} of list ${quoteName(names.list)}`;
  const message =
    bucket === undefined
      ? `${quoteName(name)} is neither a buffer nor a parameter ${where}.`
      : `${quoteName(name)} lies ${where} in buffer ${quoteName(container)}, which is not declared.`;
  const known = [
    ...names.declarations.keys(),
    ...[...names.parameters.keys()].map((each) => each.replace(/^.*?:/, '')),
  ];
  checks.add(path, 'PROGRAM_NAME_UNKNOWN', message, suggest(parameter, known));
}
