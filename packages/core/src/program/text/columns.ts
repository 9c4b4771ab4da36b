/** @file Aligns the cells of a table. A cell wider than the limit of its column overflows and does not widen the rest. */

const GAP = '  ';

/** Rows as text: cells padded to their columns, the comment last. `limits` by column; the last one stands for the rest. */
export function alignRows(
  rows: readonly { readonly cells: readonly string[]; readonly comment?: string }[],
  options: { readonly indent: string; readonly right?: readonly number[]; readonly limits: readonly number[] },
): readonly string[] {
  const { indent, right = [], limits } = options;
  // Rows may be a million: no spread of them into arguments.
  const count = rows.reduce((most, { cells }) => Math.max(most, cells.length), 0);
  const widths = Array.from({ length: count }, (_, column) =>
    widthOf(rows, column, limits[column] ?? limits[limits.length - 1] ?? 0),
  );
  const bodies = rows.map(({ cells }) => {
    const padded = cells.map((cell, column) => {
      const width = widths[column] ?? 0;
      return right.includes(column) ? cell.padStart(width) : cell.padEnd(width);
    });
    return (indent + padded.filter((_, column) => (widths[column] ?? 0) > 0).join(GAP)).trimEnd();
  });
  const widest = bodies.reduce((most, body, index) => Math.max(most, rows[index]?.comment ? body.length : 0), 0);
  const margin = Math.min(96, widest);
  return bodies.map((body, index) => {
    const comment = rows[index]?.comment;
    return comment ? `${body.padEnd(margin)}${GAP}# ${comment}` : body;
  });
}

/** The widest cell within the limit; a column of wide cells only is as wide as the limit. */
function widthOf(rows: readonly { readonly cells: readonly string[] }[], column: number, limit: number): number {
  let width = 0;
  let wider = false;
  for (const { cells } of rows) {
    const { length } = cells[column] ?? '';
    if (length <= limit) width = Math.max(width, length);
    else wider = true;
  }
  return width === 0 && wider ? limit : width;
}
