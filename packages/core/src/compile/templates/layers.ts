/** @file Templates of all kinds of layers. Where kinds differ, the name of a template and of a buffer says which it is of. */
import { assertInvariant } from '../../errors/index.ts';
import type { BufferDeclaration, Operation, Template } from '../../program/index.ts';
import type { Dim } from '../../tensor/index.ts';
import { type BlockContext, contextOfKind } from '../context.ts';
import type { BlockKind } from '../kinds.ts';
import type { Declarations } from './builder.ts';
import { withoutFrozen } from './frozen.ts';
import { layerBackward, layerForward } from './layer.ts';

/** A template with the buffers that it declares. */
export interface Written {
  readonly template: Template;
  readonly declarations: Declarations;
}

/** Writes a template; `passes`: the gradient of its block's input leads to something that is trained. */
export function written(
  write: (context: BlockContext, declarations: Declarations) => Template,
  context: BlockContext,
  passes: boolean = true,
): Written {
  const declarations: Declarations = new Map();
  return withoutFrozen(write(context, declarations), declarations, context.model, passes);
}

interface OfKind extends Written {
  readonly kind: BlockKind;
}

/** `F.layer` and `B.layer`; for several kinds `F.layer.moe` and so on. A buffer that the kinds declare alike is one; one
 * that they do not is named after its kind in each: `f.dense`, `f.moe`.
 */
export function layerTemplates(context: BlockContext): readonly Written[] {
  const all = context.kinds.kinds.flatMap((kind) =>
    [layerForward, layerBackward].map(
      (write): OfKind => ({ kind, ...written(write, contextOfKind(context, kind), kind.first > 0) }),
    ),
  );
  const differing = differingNames(all);
  return all.map(({ kind, template, declarations }) => {
    const rename = (name: string): string => (differing.has(name) ? `${name}.${kind.name}` : name);
    const renamed = [...declarations.values()].map((each) => ({ ...each, name: rename(each.name) }));
    return {
      template: withNames(template, templateOf(template.name, kind), rename),
      declarations: new Map(renamed.map((each) => [each.name, each])),
    };
  });
}

/** The template of a layer's kind: `F.layer` -> `F.layer.moe`. */
export const templateOf = (template: string, kind: Pick<BlockKind, 'name'>): string =>
  kind.name === '' ? template : `${template}.${kind.name}`;

/** Names that kinds declare in different ways. */
function differingNames(all: readonly OfKind[]): ReadonlySet<string> {
  const known = new Map<string, BufferDeclaration>();
  const differing = new Set<string>();
  for (const { declarations } of all) {
    for (const declaration of declarations.values()) {
      const first = known.get(declaration.name);
      if (first === undefined) known.set(declaration.name, declaration);
      else if (!declaredAlike(first, declaration)) differing.add(checkedLocal(declaration));
    }
  }
  return differing;
}

/** Whether templates declare the same; they say nothing of buckets. */
const declaredAlike = (one: BufferDeclaration, other: BufferDeclaration): boolean =>
  one.role === other.role &&
  one.dtype === other.dtype &&
  one.scope === other.scope &&
  alike(one.dims, other.dims, sameDim) &&
  alike(one.partial, other.partial, (a, b) => a.over === b.over && a.reduce === b.reduce);

const sameDim = (one: Dim, other: Dim): boolean =>
  one === other ||
  (one.label === other.label &&
    one.size === other.size &&
    alike(one.cut, other.cut, Object.is) &&
    alike(one.parts, other.parts, Object.is) &&
    one.zigzag === other.zigzag &&
    one.routed?.experts === other.routed?.experts &&
    one.routed?.load === other.routed?.load);

function alike<Each>(
  one: readonly Each[] | undefined,
  other: readonly Each[] | undefined,
  same: (a: Each, b: Each) => boolean,
): boolean {
  if (one === other) return true;
  if (one === undefined || one.length !== other?.length) return false;
  return one.every((each, index) => same(each, other[index] as Each));
}

function checkedLocal({ name, scope }: BufferDeclaration): string {
  assertInvariant(scope !== 'boundary', () => `layers of several kinds do not agree on ${name}`);
  return name;
}

function withNames(template: Template, name: string, rename: (name: string) => string): Template {
  const operations = template.operations.map(
    (operation): Operation => ({
      ...operation,
      reads: operation.reads.map(rename),
      writes: operation.writes.map((write) => ({ ...write, buffer: rename(write.buffer) })),
    }),
  );
  return { ...template, name, operations };
}
