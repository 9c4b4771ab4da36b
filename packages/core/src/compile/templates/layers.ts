/** @file Templates of all kinds of layers. Where kinds differ, the name of a template and of a buffer says which it is of. */
import { assertInvariant } from '../../errors/index.ts';
import type { LayerKind } from '../../model/index.ts';
import type { BufferDeclaration, Operation, Template } from '../../program/index.ts';
import { type BlockContext, contextOfKind } from '../context.ts';
import type { Declarations } from './builder.ts';
import { layerBackward, layerForward } from './layer.ts';

/** A template with the buffers that it declares. */
export interface Written {
  readonly template: Template;
  readonly declarations: Declarations;
}

export function written(
  write: (context: BlockContext, declarations: Declarations) => Template,
  context: BlockContext,
): Written {
  const declarations: Declarations = new Map();
  return { template: write(context, declarations), declarations };
}

interface OfKind extends Written {
  readonly kind: LayerKind;
}

/** `F.layer` and `B.layer`; for several kinds `F.layer.moe` and so on. A buffer that the kinds declare alike is one; one
 * that they do not is named after its kind in each: `f.dense`, `f.moe`.
 */
export function layerTemplates(context: BlockContext): readonly Written[] {
  const all = context.kinds.kinds.flatMap((kind) =>
    [layerForward, layerBackward].map((write): OfKind => ({ kind, ...written(write, contextOfKind(context, kind)) })),
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
export const templateOf = (template: string, kind: Pick<LayerKind, 'name'>): string =>
  kind.name === '' ? template : `${template}.${kind.name}`;

/** Names that kinds declare in different ways. */
function differingNames(all: readonly OfKind[]): ReadonlySet<string> {
  const known = new Map<string, string>();
  const differing = new Set<string>();
  for (const declaration of all.flatMap(({ declarations }) => [...declarations.values()])) {
    const text = JSON.stringify(declaration);
    if ((known.get(declaration.name) ?? text) === text) known.set(declaration.name, text);
    else differing.add(checkedLocal(declaration));
  }
  return differing;
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
