/** @file Addresses for buffers that have none: memory that was given back is taken again for the next buffer of its size.
 * Not the allocator of any framework; it only keeps what lives together apart.
 */

/** A stretch of addresses; it keeps its size for ever. */
export interface Block {
  readonly address: number;
  readonly size: number;
}

/** Gives out and takes back blocks. */
export interface Addresses {
  take(size: number): Block;
  giveBack(block: Block): void;
  /** All blocks ever made, in order of address, without gaps. */
  readonly blocks: readonly Block[];
  /** Bytes from the first address to the last. */
  readonly size: number;
}

/** Addresses from `base` on. */
export function createAddresses(base: number): Addresses {
  const blocks: Block[] = [];
  const free = new Map<number, Block[]>();
  let size = 0;
  return {
    take: (wanted) => {
      const found = free.get(wanted)?.pop();
      if (found !== undefined) return found;
      const made = { address: base + size, size: wanted };
      blocks.push(made);
      size += wanted;
      return made;
    },
    giveBack: (block) => {
      const known = free.get(block.size) ?? [];
      free.set(block.size, known);
      known.push(block);
    },
    blocks,
    get size() {
      return size;
    },
  };
}
