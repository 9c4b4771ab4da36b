/** @file Writes the operations of one rank list out: calls become the operations of their templates, names of buffers
 * become instances. Order is the order of issue.
 */
import { assertInvariant } from '../errors/index.ts';
import { type AxisName, degreeOf } from '../mesh/index.ts';
import type { Degrees, Dim } from '../tensor/index.ts';
import type { BufferDeclaration, Call, Operation, Program, RankList, View } from './types.ts';

/** One buffer as the operations of a list name it: a declaration with its indices filled in. */
export interface Instance {
  readonly name: string;
  readonly declaration: BufferDeclaration;
}

/** What an operation touches: an instance, or a parameter's view of it, or the leading slice that tensor sums. */
export interface Operand {
  readonly instance: Instance;
  readonly view?: View;
  readonly slice?: 'summed';
  /** Global dims of what is touched. */
  readonly dims: readonly Dim[];
}

export interface ExpandedWrite {
  readonly operand: Operand;
  readonly accumulate: boolean;
}

export interface ExpandedOperation {
  readonly index: number;
  /** The line of the list that it comes from. */
  readonly item: number;
  readonly operation: Operation;
  readonly reads: readonly (Operand | undefined)[];
  readonly writes: readonly ExpandedWrite[];
  /** Indices of earlier operations whose end it needs, beside its data. */
  readonly needs: readonly number[];
  readonly block: number | undefined;
  readonly microBatch: number | undefined;
  readonly again: boolean;
}

export interface ExpandedList {
  readonly list: RankList;
  readonly operations: readonly ExpandedOperation[];
  readonly instances: ReadonlyMap<string, Instance>;
}

/** Degree of an axis or of a named group in a program. */
export function degreesOf(program: Program): Degrees {
  const groups = new Map(program.groups.map((group) => [group.name, group.coordinates.length]));
  return (axis) => groups.get(axis) ?? degreeOf(program.mesh, axis as AxisName);
}

/** Throws an internal error when a name has no declaration: only our own passes can write such a program. */
export function expandList(program: Program, list: RankList): ExpandedList {
  const scope = createScope(program, list);
  const templates = new Map(program.templates.map((template) => [template.name, template]));
  const operations: ExpandedOperation[] = [];
  const lastOf = new Map<number, number>();
  for (const item of list.items) {
    const needs = item.needs.map((id) => {
      const end = lastOf.get(id);
      assertInvariant(
        end !== undefined,
        () => `line ${item.id} of ${list.name} needs line ${id}, which is not earlier`,
      );
      return end;
    });
    if (item.kind === 'operation') {
      operations.push(expandOperation(item.operation, scope, operations.length, item.id, needs, undefined, undefined));
    } else {
      const template = templates.get(item.template);
      assertInvariant(template !== undefined, () => `no template ${item.template}`);
      for (const block of blocksOf(item)) {
        for (const operation of template.operations) {
          operations.push(expandOperation(operation, scope, operations.length, item.id, needs, block, item));
        }
      }
    }
    lastOf.set(item.id, operations.length - 1);
  }
  return { list, operations, instances: scope.instances };
}

/** Blocks of a call in the order of execution. */
export function blocksOf(call: Call): readonly number[] {
  const step = call.last < call.first ? -1 : 1;
  return Array.from({ length: Math.abs(call.last - call.first) + 1 }, (_, index) => call.first + step * index);
}

function expandOperation(
  operation: Operation,
  scope: NameScope,
  index: number,
  item: number,
  needs: readonly number[],
  block: number | undefined,
  call: Call | undefined,
): ExpandedOperation {
  const operand = (name: string): Operand =>
    call === undefined || block === undefined ? scope.byInstance(name) : scope.inCall(name, block, call);
  return {
    index,
    item,
    operation,
    reads: operation.reads.map((name) => (name === 'none' ? undefined : operand(name))),
    writes: operation.writes.map((write) => ({
      operand: operand(write.buffer),
      accumulate: write.accumulate ?? false,
    })),
    needs,
    block,
    microBatch: call?.microBatch,
    again: call?.again ?? false,
  };
}

/** Resolves names to operands, in a call by the scope of the declaration, in a list line as they are written. */
interface NameScope {
  readonly instances: Map<string, Instance>;
  readonly byInstance: (name: string) => Operand;
  readonly inCall: (name: string, block: number, call: Call) => Operand;
}

function createScope(program: Program, list: RankList): NameScope {
  const declarations = new Map([...program.buffers, ...list.buffers].map((buffer) => [buffer.name, buffer]));
  const buckets = new Map(list.buckets.map((bucket) => [bucket.name, bucket]));
  const views = new Map<string, { bucket: string; view: View }>();
  for (const bucket of list.buckets) {
    for (const view of bucket.views) views.set(`${view.block}:${view.name}`, { bucket: bucket.name, view });
  }
  const instances = new Map<string, Instance>();
  const cache = new Map<string, Operand>();

  const instance = (name: string, declaration: BufferDeclaration): Instance => {
    const known = instances.get(name);
    if (known) return known;
    const created = { name, declaration };
    instances.set(name, created);
    return created;
  };
  const whole = (name: string, declaration: BufferDeclaration): Operand => {
    const known = cache.get(name);
    if (known) return known;
    const created = { instance: instance(name, declaration), dims: declaration.dims };
    cache.set(name, created);
    return created;
  };

  const byInstance = (name: string): Operand => {
    const known = cache.get(name);
    if (known) return known;
    const sliced = name.endsWith('.summed');
    const full = sliced ? name.slice(0, -'.summed'.length) : name;
    const declaration = declarations.get(declaredName(full));
    assertInvariant(declaration !== undefined, () => `${list.name} names buffer ${name}, which is not declared`);
    if (!sliced) return whole(full, declaration);
    const summed = buckets.get(declaration.bucket ?? '')?.summed ?? 0;
    const [flat] = declaration.dims;
    assertInvariant(flat !== undefined, () => `${full} is not a bucket`);
    const dims = [{ label: flat.label, size: summed, ...(flat.cut && { cut: flat.cut }) }];
    const created: Operand = { instance: instance(full, declaration), slice: 'summed', dims };
    cache.set(name, created);
    return created;
  };

  const parameter = (name: string, prefix: 'W' | 'G', block: number, call: Call): Operand => {
    const found = views.get(`${block}:${name}`) ?? views.get(`-1:${name}`);
    assertInvariant(found !== undefined, () => `${list.name} has no parameter ${name} in block ${block}`);
    const declaration = declarations.get(`${prefix}.${found.bucket}`);
    assertInvariant(declaration !== undefined, () => `${prefix}.${found.bucket} is not declared in ${list.name}`);
    const run = prefix === 'W' ? call.using?.[found.bucket] : undefined;
    const suffix = run !== undefined ? `@${run}` : declaration.scope === 'micro' ? `[${call.microBatch}]` : '';
    return {
      instance: instance(`${prefix}.${found.bucket}${suffix}`, declaration),
      view: found.view,
      dims: found.view.dims,
    };
  };

  const inCall = (name: string, block: number, call: Call): Operand => {
    const boundary = boundaryOf(name, block);
    const declaration = declarations.get(boundary?.base ?? name);
    if (declaration) return whole(instanceName(declaration, boundary?.index ?? block, call.microBatch), declaration);
    return name.startsWith('G.') ? parameter(name.slice(2), 'G', block, call) : parameter(name, 'W', block, call);
  };
  return { instances, byInstance, inCall };
}

/** `x` is the boundary before a block, `y` the one after it. */
export function boundaryOf(name: string, block: number): { base: string; index: number } | undefined {
  if (name === 'x' || name === 'dx') return { base: name, index: block };
  if (name === 'y') return { base: 'x', index: block + 1 };
  if (name === 'dy') return { base: 'dx', index: block + 1 };
  return undefined;
}

/** The declaration that a name of a template means: `x` for `y` and `dx` for `dy`, else itself. */
export const boundaryName = (name: string): string => boundaryOf(name, 0)?.base ?? name;

/** The name of an instance: `n1[2,0]`, `x3[0]`, `z[0]`, `loss`. `index` is the block, or the boundary. */
export function instanceName(declaration: BufferDeclaration, index: number, microBatch: number): string {
  switch (declaration.scope) {
    case 'period':
      return declaration.name;
    case 'micro':
      return `${declaration.name}[${microBatch}]`;
    case 'block':
      return `${declaration.name}[${index},${microBatch}]`;
    case 'boundary':
      return `${declaration.name}${index}[${microBatch}]`;
  }
}

/** The declaration that an instance belongs to, by name alone. */
export function declaredName(instance: string): string {
  const base = instance.replace(/(@\d+)?(\[[-\d,]+\])?$/, '');
  return /^d?x\d+$/.test(base) ? base.replace(/\d+$/, '') : base;
}
