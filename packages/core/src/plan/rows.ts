/** @file Rows of layers by kind: what a chunk holds, whichever layers these are. Rows of the same kinds are one value, so
 * that what is worked out for one chunk serves all that hold the same.
 */

/** Layers of one kind that follow each other. */
export interface LayerRun {
  readonly kind: number;
  readonly count: number;
}

export interface LayerRow {
  /** Small and unique among the rows of a model; the number of layers where all are alike. */
  readonly id: number;
  readonly length: number;
  /** In model order; no two neighbours of one kind. */
  readonly runs: readonly LayerRun[];
  /** Kind of the first and of the last layer. */
  readonly first: number;
  readonly last: number;
}

/** The row of `count` layers from layer `from` on. Each is made once. */
export type RowBook = (from: number, count: number) => LayerRow;

/** Books of models that have the same kinds in different places: their rows share numbers. */
export function rowBooks(): (kindOf: readonly number[]) => RowBook {
  const byText = new Map<string, LayerRow>();
  return (kindOf) => {
    const alike = kindOf.every((kind) => kind === kindOf[0]);
    const width = kindOf.length + 1;
    const byPlace: (LayerRow | undefined)[] = [];
    return (from, count) => {
      const place = alike ? count : from * width + count;
      const known = byPlace[place];
      if (known !== undefined) return known;
      const runs = runsOf(kindOf, alike ? 0 : from, count);
      const text = runs.map((run) => `${run.kind}x${run.count}`).join();
      const row = byText.get(text) ?? rowOf(alike ? count : byText.size, count, runs);
      byText.set(text, row);
      byPlace[place] = row;
      return row;
    };
  };
}

const rowOf = (id: number, length: number, runs: readonly LayerRun[]): LayerRow => ({
  id,
  length,
  runs,
  first: runs[0]?.kind ?? 0,
  last: runs.at(-1)?.kind ?? 0,
});

function runsOf(kindOf: readonly number[], from: number, count: number): readonly LayerRun[] {
  const runs: LayerRun[] = [];
  for (const kind of kindOf.slice(from, from + count)) {
    const before = runs.at(-1);
    if (before?.kind === kind) runs[runs.length - 1] = { kind, count: before.count + 1 };
    else runs.push({ kind, count: 1 });
  }
  return runs;
}

/** The rows of a layout's chunks, by position in model order. */
export function rowsOfSplit(rowAt: RowBook, layersPerStage: readonly number[]): readonly LayerRow[] {
  let from = 0;
  return layersPerStage.map((count) => {
    const row = rowAt(from, count);
    from += count;
    return row;
  });
}
