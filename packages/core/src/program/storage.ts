/** @file Where instances lie: a shard in place lies in the buffer that it is a shard of. */
import type { ExpandedList, Instance } from './expand.ts';
import type { BufferDeclaration } from './types.ts';

/** The instances of one list, numbered by the memory that they lie in. */
export interface Storages {
  /** Owners of memory, by number. */
  readonly owners: readonly Instance[];
  /** The number of the memory that an instance lies in. */
  readonly numberOf: (instance: Instance) => number;
}

/** Numbers the memory that the instances of a list lie in; a shard in place shares the number of its buffer. */
export function storagesOf(expanded: ExpandedList): Storages {
  const owners: Instance[] = [];
  const numbers = new Map<Instance, number>();
  const absent = new Map<string, Instance>();
  const declarations = new Map(expanded.list.buffers.map((buffer) => [buffer.name, buffer]));
  /** The buffer of a shard in place, which operations may name or not. */
  const ownerOf = (instance: Instance): Instance => {
    const name = ownerName(instance);
    const named = expanded.instances.get(name) ?? absent.get(name);
    if (named) return named;
    const owner = { name, declaration: ownerDeclaration(instance, declarations) };
    absent.set(name, owner);
    return owner;
  };
  const numberOf = (instance: Instance): number => {
    const known = numbers.get(instance);
    if (known !== undefined) return known;
    const isShard = instance.declaration.shardOf !== undefined;
    const number = isShard ? numberOf(ownerOf(instance)) : owners.push(instance) - 1;
    numbers.set(instance, number);
    return number;
  };
  return { owners, numberOf };
}

/** The name of the buffer that an instance lies in: `G.body[0]` for `S.body[0]` where that is a shard in place. */
function ownerName({ name, declaration }: Instance): string {
  return declaration.shardOf === undefined ? name : declaration.shardOf + name.slice(declaration.name.length);
}

const ownerDeclaration = (
  { declaration }: Instance,
  declarations: ReadonlyMap<string, BufferDeclaration>,
): BufferDeclaration => declarations.get(declaration.shardOf ?? declaration.name) ?? declaration;
