/** @file What is left of a backward where weights are frozen: no gradient of them, and nothing that only led to one. Inputs that
 * only such a gradient read are not kept, exchanges that only brought them are not made, and below the lowest adapter nothing
 * is left.
 */
import type { ModelSpec } from '../../model/index.ts';
import type { BufferDeclaration, Operation, Template } from '../../program/index.ts';
import type { Declarations } from './builder.ts';

/** The gradient of a parameter that adapters leave frozen. */
const isFrozenGradient = (buffer: string): boolean => buffer.startsWith('G.') && !/\.[AB]$/.test(buffer);

/** The backward as the trained parameters need it; `passes`: the gradient of the block's input is needed too. Empty where
 * nothing is. */
export function withoutFrozen(
  template: Template,
  declarations: Declarations,
  { adapters }: Pick<ModelSpec, 'adapters'>,
  passes: boolean,
): { readonly template: Template; readonly declarations: Declarations } {
  if (adapters === undefined || template.direction === 'forward') return { template, declarations };
  const operations = needed(template.operations.flatMap(withoutFrozenWrites), passes);
  const names = new Set(operations.flatMap(({ reads, writes }) => [...reads, ...writes.map(({ buffer }) => buffer)]));
  const isKept = ({ name, scope }: BufferDeclaration): boolean => scope === 'boundary' || names.has(name);
  return {
    template: { ...template, operations },
    declarations: new Map([...declarations].filter(([, declaration]) => isKept(declaration))),
  };
}

/** Gradients of parameters are the last operands of a kernel; one that makes nothing else is not called. */
function withoutFrozenWrites(operation: Operation): readonly Operation[] {
  const writes = operation.writes.filter(({ buffer }) => !isFrozenGradient(buffer));
  if (writes.length === operation.writes.length) return [operation];
  return writes.length === 0 ? [] : [{ ...operation, writes } as Operation];
}

/** Operations that lead to a gradient of a parameter, or out of the block. */
function needed(operations: readonly Operation[], passes: boolean): readonly Operation[] {
  const wanted = new Set<string>(passes ? ['dx'] : []);
  const kept: Operation[] = [];
  for (const operation of [...operations].reverse()) {
    const leads = operation.writes.some(({ buffer }) => buffer.startsWith('G.') || wanted.has(buffer));
    if (!leads) continue;
    for (const read of operation.reads) wanted.add(read);
    kept.unshift(operation);
  }
  return kept;
}
