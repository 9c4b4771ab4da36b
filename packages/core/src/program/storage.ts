/** @file Where instances lie: a shard in place lies in the buffer that it is a shard of. */
import type { WrittenList } from './expanded-operation.ts';
import type { Instance } from './names.ts';
import type { BufferDeclaration } from './types.ts';

/** The instances of one list, numbered by the memory that they lie in. */
export interface Storages {
  /** Owners of memory, by number. */
  readonly owners: readonly Instance[];
  /** The number of the memory that an instance lies in. */
  readonly numberOf: (instance: Instance) => number;
}

/** Numbers the memory that the instances of a list lie in; a shard in place shares the number of its buffer. */
export function storagesOf(expanded: WrittenList): Storages {
  const owners: Instance[] = [];
  const numbers = new Map<string, number>();
  const byInstance = new Map<Instance, number>();
  const declarations = new Map(expanded.list.buffers.map((buffer) => [buffer.name, buffer]));
  const create = (name: string, instance: () => Instance): number => {
    const known = numbers.get(name);
    if (known !== undefined) return known;
    numbers.set(name, owners.length);
    owners.push(instance());
    return owners.length - 1;
  };
  const numberOf = (instance: Instance): number => {
    const known = byInstance.get(instance);
    if (known !== undefined) return known;
    const name = ownerName(instance);
    const owner = (): Instance =>
      expanded.instances.get(name) ?? { name, declaration: ownerDeclaration(instance, declarations) };
    const number = create(name, owner);
    byInstance.set(instance, number);
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
