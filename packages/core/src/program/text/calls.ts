/** @file What a call says in text: its index, and what passes into and out of it. */
import { boundaryOf, instanceName } from '../names.ts';
import type { BufferDeclaration, Call, Program, Template, Write } from '../types.ts';

/** Names of a program, looked up once for all of its lines. */
export interface Vocabulary {
  readonly program: Program;
  readonly templates: ReadonlyMap<string, Template>;
  readonly buffers: ReadonlyMap<string, BufferDeclaration>;
}

export const vocabularyOf = (program: Program): Vocabulary => ({
  program,
  templates: new Map(program.templates.map((template) => [template.name, template])),
  buffers: new Map(program.buffers.map((buffer) => [buffer.name, buffer])),
});

/** Buffers that a call takes from the lines before it and leaves for those after it. */
export interface CallEnds {
  readonly reads: readonly string[];
  readonly writes: readonly Write[];
}

/** `[2]` for embed and head, `[0,2]` for one layer, `[0..3,2]` for several; the last number is the micro-batch. */
export function callIndex(vocabulary: Vocabulary, { template, first, last, microBatch }: Call): string {
  const usual = usualBlock(vocabulary.templates.get(template)?.block, vocabulary.program.layers);
  if (first === last && first === usual) return `[${microBatch}]`;
  return `[${first === last ? first : `${first}..${last}`},${microBatch}]`;
}

/** The only block that an embed or head template runs for. */
export function usualBlock(block: Template['block'] | undefined, layers: number): number | undefined {
  if (block === 'embed') return -1;
  return block === 'head' ? layers : undefined;
}

/** What passes through a call: activations of boundaries in forward (with the micro-batch's inputs and the loss), their
 * gradients in backward. What a block keeps for its own backward is not shown.
 */
export function callEnds(vocabulary: Vocabulary, call: Call): CallEnds {
  const template = vocabulary.templates.get(call.template);
  if (template === undefined) return { reads: [], writes: [] };
  const shown = (name: string, block: number, way: 'read' | 'write'): string | undefined =>
    shownName(vocabulary, template, name, block, call, way);
  const made = new Set<string | undefined>();
  const reads = new Set<string>();
  const writes = new Map<string, Write>();
  for (const operation of template.operations) {
    for (const read of operation.reads) {
      const name = shown(read, call.first, 'read');
      if (name !== undefined && !made.has(name)) reads.add(name);
    }
    for (const write of operation.writes) {
      made.add(shown(write.buffer, call.first, 'write'));
      const buffer = shown(write.buffer, call.last, 'write');
      if (buffer !== undefined && !writes.has(buffer)) writes.set(buffer, { ...write, buffer });
    }
  }
  return { reads: [...reads], writes: [...writes.values()] };
}

/** The instance that an operand of a template names, when it is one that passes from block to block. */
function shownName(
  { buffers }: Vocabulary,
  template: Template,
  name: string,
  block: number,
  call: Call,
  way: 'read' | 'write',
): string | undefined {
  const boundary = boundaryOf(name, block);
  const declaration = buffers.get(boundary?.base ?? name);
  if (declaration === undefined || !passes(declaration, template, way)) return undefined;
  return instanceName(declaration, boundary?.index ?? block, call.microBatch);
}

function passes(declaration: BufferDeclaration, template: Template, way: 'read' | 'write'): boolean {
  const { scope, role, name } = declaration;
  const backward = template.direction === 'backward';
  if (scope === 'boundary') return name.startsWith('d') === backward;
  if (backward) return false;
  return way === 'read' ? role === 'input' && scope === 'micro' : scope === 'period';
}
