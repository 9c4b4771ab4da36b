/** @file Kinds of blocks of layouts: those without overrides have one list, the others are told apart by what they say. */
import { type BlockKinds, blockKinds } from '../../compile/index.ts';
import type { Job } from '../../job/index.ts';
import { formatOverrides, type Layout } from '../../layout/index.ts';
import { type LayerRow, type RowBook, rowBooks, rowsOfSplit } from '../rows.ts';

/** Kinds of blocks with a text that layouts share whose blocks have the same prices. */
interface NamedKinds {
  readonly names: string;
  readonly kindOf: BlockKinds['kindOf'];
}

/** The kinds of a layout; each list is made once. What all layers recompute is not in their names. */
export function kindsBook(job: Job): (layout: Layout) => NamedKinds {
  const known = new Map<string, NamedKinds>();
  let plain: NamedKinds | undefined;
  const make = (layout: Layout): NamedKinds => {
    const { kinds, kindOf } = blockKinds(job.model, job.batch.length, layout);
    return { names: kinds.map(({ name }) => name).join(), kindOf };
  };
  return (layout) => {
    if (layout.layers.length === 0) {
      plain ??= make(layout);
      return plain;
    }
    const text = `${layout.recompute} ${formatOverrides(layout.layers)}`;
    const found = known.get(text) ?? make(layout);
    known.set(text, found);
    return found;
  };
}

/** Rows of the chunks of layouts. Layouts with the same kinds share the numbers of rows, as they share prices. */
export function rowsBySplit(kindsOf: (layout: Layout) => NamedKinds): (layout: Layout) => readonly LayerRow[] {
  const books = new Map<string, (kindOf: readonly number[]) => RowBook>();
  const known = new Map<NamedKinds, (split: readonly number[]) => readonly LayerRow[]>();
  const make = ({ names, kindOf }: NamedKinds) => {
    const bookOf = books.get(names) ?? rowBooks();
    books.set(names, bookOf);
    const rowAt = bookOf(kindOf);
    // Weak: splits belong to a search, and prices may outlive it.
    const rows = new WeakMap<readonly number[], readonly LayerRow[]>();
    return (split: readonly number[]): readonly LayerRow[] => {
      const found = rows.get(split) ?? rowsOfSplit(rowAt, split);
      rows.set(split, found);
      return found;
    };
  };
  return (layout) => {
    const kinds = kindsOf(layout);
    const rowsOf = known.get(kinds) ?? make(kinds);
    known.set(kinds, rowsOf);
    return rowsOf(layout.layersPerStage);
  };
}
