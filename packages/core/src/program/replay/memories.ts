/** @file The memory that buffers of a list lie in, numbered without writing out their names: a buffer of each micro-batch
 * takes a row of numbers, and the number of an instance is the start of the row and its micro-batch.
 */
import { assertInvariant } from '../../errors/index.ts';
import { declaredName } from '../names.ts';
import type { Program, RankList } from '../types.ts';
import type { Owners, Slot } from './types.ts';

/** How an instance lies in its slot. */
export interface Place {
  readonly slot: Slot;
  /** The micro-batch or gathered copy; -1 where there is one only. */
  readonly number: number;
  readonly each: 'micro-batch' | 'copy' | 'period';
}

/** Memory of one list. Grows as it is asked. */
export interface Memories {
  placeOf(name: string): Place;
  /** The copy that a call reads of a bucket whose weights lie at a place. */
  copyOf(place: Place, copy: number): number;
  memoryOf(place: Place): number;
  count(): number;
  /** Owners by number of memory. */
  owners(): Owners;
}

export function createMemories(program: Program, list: RankList): Memories {
  const rows = Math.max(1, program.microBatches);
  const declarations = new Map([...program.buffers, ...list.buffers].map((buffer) => [buffer.name, buffer]));
  const own = new Map(list.buffers.map((buffer) => [buffer.name, buffer]));
  const byText = new Map<string, Slot>();
  const byOwner = new Map<string, Slot>();
  const slots: Slot[] = [];
  const taken: { readonly slot: number; readonly first: number }[] = [];
  let count = 0;
  const take = (slot: number, memories: number): number => {
    const first = count;
    taken.push({ slot, first });
    count += memories;
    return first;
  };
  const slotNamed = (text: string, name: string, each: Place['each']): Slot => {
    const known = byText.get(text);
    if (known !== undefined) return known;
    const declaration = declarations.get(declaredName(name));
    assertInvariant(declaration !== undefined, () => `${list.name} names buffer ${name}, which is not declared`);
    const { shardOf } = declaration;
    const ownerText = shardOf === undefined ? text : shardOf + text.slice(declaration.name.length);
    let slot = byOwner.get(ownerText);
    if (slot === undefined) {
      const index = slots.length;
      const first = take(index, each === 'micro-batch' ? rows : each === 'period' ? 1 : 0);
      slot = { index, text: ownerText, owner: own.get(shardOf ?? '') ?? declaration, first, further: new Map() };
      slots.push(slot);
      byOwner.set(ownerText, slot);
    }
    byText.set(text, slot);
    return slot;
  };
  const further = (slot: Slot, number: number): number => {
    const known = slot.further.get(number);
    if (known !== undefined) return known;
    const memory = take(slot.index, 1);
    slot.further.set(number, memory);
    return memory;
  };
  return {
    placeOf: (name) => {
      const { text, number, each } = parted(name);
      return { slot: slotNamed(text, name, each), number, each };
    },
    copyOf: ({ slot }, copy) => further(slotNamed(`${slot.text}@`, slot.text, 'copy'), copy),
    memoryOf: ({ slot, number, each }) => {
      if (each === 'period') return slot.first;
      return each === 'micro-batch' && number < rows ? slot.first + number : further(slot, number);
    },
    count: () => count,
    owners: () => {
      const slotOf = new Uint32Array(count);
      taken.forEach(({ slot, first }, at) => slotOf.fill(slot, first, taken[at + 1]?.first ?? count));
      return ownersOf(slots, slotOf);
    },
  };
}

function ownersOf(slots: readonly Slot[], slotOf: Uint32Array): Owners {
  return {
    slots,
    slotOf,
    instanceOf: (memory) => {
      const slot = slots[slotOf[memory] as number] as Slot;
      return { name: nameIn(slot, memory), declaration: slot.owner };
    },
  };
}

function nameIn({ text, first, further }: Slot, memory: number): string {
  const close = text.endsWith('[') || text.endsWith(',') ? ']' : '';
  for (const [number, each] of further) if (each === memory) return `${text}${number}${close}`;
  return close === '' ? text : `${text}${memory - first}${close}`;
}

const CLOSE = ']'.charCodeAt(0);
const ZERO = '0'.charCodeAt(0);

/** The name up to its last number, that number, and what it counts. */
export function parted(name: string): { readonly text: string } & Pick<Place, 'number' | 'each'> {
  const last = name.length - 1;
  const isMicro = name.charCodeAt(last) === CLOSE;
  let from = isMicro ? last : name.length;
  let number = 0;
  let unit = 1;
  for (; from > 0; from--) {
    const digit = name.charCodeAt(from - 1) - ZERO;
    if (digit < 0 || digit > 9) break;
    number += digit * unit;
    unit *= 10;
  }
  if (isMicro) return { text: name.slice(0, from), number, each: 'micro-batch' };
  if (from < name.length && name[from - 1] === '@') return { text: name.slice(0, from), number, each: 'copy' };
  return { text: name, number: -1, each: 'period' };
}
