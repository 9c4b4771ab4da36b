/** @file Names of buffers: from a name in a template or a line of a list to the instance and dims that it stands for. */
import { assertInvariant } from '../errors/index.ts';
import type { Dim } from '../tensor/index.ts';
import type { BufferDeclaration, Call, Program, RankList, View } from './types.ts';

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

/** Resolves names to operands: in a call by the scope of the declaration, in a list line as they are written. */
export interface NameScope {
  readonly instances: ReadonlyMap<string, Instance>;
  readonly byInstance: (name: string) => Operand;
  readonly inCall: (name: string, block: number, call: Call) => Operand;
}

export function nameScope(program: Program, list: RankList): NameScope {
  const declarations = new Map([...program.buffers, ...list.buffers].map((buffer) => [buffer.name, buffer]));
  const known = knownOperands();
  const byInstance = instanceNames(list, declarations, known);
  const parameter = parameterNames(list, declarations, known);
  return {
    instances: known.instances,
    byInstance,
    inCall: (name, block, call) => {
      const boundary = boundaryOf(name, block);
      const declaration = declarations.get(boundary?.base ?? name);
      if (declaration) return known.inScope(declaration, boundary?.index ?? block, call.microBatch);
      return name.startsWith('G.') ? parameter(name.slice(2), 'G', block, call) : parameter(name, 'W', block, call);
    },
  };
}

type Declarations = ReadonlyMap<string, BufferDeclaration>;

/** Instances and whole operands, each made once. */
interface KnownOperands {
  readonly instances: Map<string, Instance>;
  readonly operands: Map<string, Operand>;
  instance(name: string, declaration: BufferDeclaration): Instance;
  whole(name: string, declaration: BufferDeclaration): Operand;
  /** The whole operand of a declaration with its indices filled in. */
  inScope(declaration: BufferDeclaration, index: number, microBatch: number): Operand;
}

function knownOperands(): KnownOperands {
  const instances = new Map<string, Instance>();
  const operands = new Map<string, Operand>();
  const instance = (name: string, declaration: BufferDeclaration): Instance => {
    const known = instances.get(name);
    if (known) return known;
    const created = { name, declaration };
    instances.set(name, created);
    return created;
  };
  const whole = (name: string, declaration: BufferDeclaration): Operand => {
    const known = operands.get(name);
    if (known) return known;
    const created = { instance: instance(name, declaration), dims: declaration.dims };
    operands.set(name, created);
    return created;
  };
  // Numbers instead of names: a step names its buffers a million times.
  const scoped = new Map<BufferDeclaration, Map<number, Operand>>();
  const inScope = (declaration: BufferDeclaration, index: number, microBatch: number): Operand => {
    let ofDeclaration = scoped.get(declaration);
    if (ofDeclaration === undefined) {
      ofDeclaration = new Map();
      scoped.set(declaration, ofDeclaration);
    }
    const key = microBatch * 2 ** 24 + index + 1;
    const found = ofDeclaration.get(key);
    if (found) return found;
    const created = whole(instanceName(declaration, index, microBatch), declaration);
    ofDeclaration.set(key, created);
    return created;
  };
  return { instances, operands, instance, whole, inScope };
}

/** Names as lines of a list write them: `x1[0]`, `W.body@3`, `G.body.summed`. */
function instanceNames(list: RankList, declarations: Declarations, known: KnownOperands): NameScope['byInstance'] {
  const buckets = new Map(list.buckets.map((bucket) => [bucket.name, bucket]));
  return (name) => {
    const found = known.operands.get(name);
    if (found) return found;
    const sliced = isSlice(name);
    const full = withoutSlice(name);
    const declaration = declarations.get(declaredName(full));
    assertInvariant(declaration !== undefined, () => `${list.name} names buffer ${name}, which is not declared`);
    if (!sliced) return known.whole(full, declaration);
    const summed = buckets.get(declaration.bucket ?? '')?.summed ?? 0;
    const [flat] = declaration.dims;
    assertInvariant(flat !== undefined, () => `${full} is not a bucket`);
    const dims = [{ label: flat.label, size: summed, ...(flat.cut && { cut: flat.cut }) }];
    const created: Operand = { instance: known.instance(full, declaration), slice: 'summed', dims };
    known.operands.set(name, created);
    return created;
  };
}

/** Parameters as templates name them, `qkv.w`; their gradients, `G.qkv.w`. The tied matrix is known at both ends. */
function parameterNames(list: RankList, declarations: Declarations, known: KnownOperands) {
  const views = new Map<string, { bucket: string; view: View }>();
  for (const bucket of list.buckets) {
    for (const view of bucket.views) views.set(`${view.block}:${view.name}`, { bucket: bucket.name, view });
  }
  return (name: string, prefix: 'W' | 'G', block: number, call: Call): Operand => {
    const found = views.get(`${block}:${name}`) ?? views.get(`-1:${name}`);
    assertInvariant(found !== undefined, () => `${list.name} has no parameter ${name} in block ${block}`);
    const declaration = declarations.get(`${prefix}.${found.bucket}`);
    assertInvariant(declaration !== undefined, () => `${prefix}.${found.bucket} is not declared in ${list.name}`);
    const run = prefix === 'W' ? call.using?.[found.bucket] : undefined;
    const suffix = run !== undefined ? `@${run}` : declaration.scope === 'micro' ? `[${call.microBatch}]` : '';
    const instance = known.instance(`${prefix}.${found.bucket}${suffix}`, declaration);
    return { instance, view: found.view, dims: found.view.dims };
  };
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

const SLICE = '.summed';

/** Whether a line names the part of a bucket that tensor ranks sum. */
export const isSlice = (name: string): boolean => name.endsWith(SLICE);

/** The bucket's container of such a part; other names as they are. */
export const withoutSlice = (name: string): string => (isSlice(name) ? name.slice(0, -SLICE.length) : name);

/** The declaration that an instance belongs to, by name alone. */
export function declaredName(instance: string): string {
  const base = instance.replace(/(@\d+)?(\[[-\d,]+\])?$/, '');
  return /^d?x\d+$/.test(base) ? base.replace(/\d+$/, '') : base;
}
