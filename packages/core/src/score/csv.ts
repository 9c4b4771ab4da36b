/** @file Comma-separated values as RFC 4180 writes them: quoted cells may hold commas, quotes and line breaks. */

/** One row: its cells by the name of their column, and the line of the file on which it begins. */
export interface CsvRow {
  readonly line: number;
  readonly cells: Readonly<Record<string, string>>;
}

export interface CsvTable {
  readonly columns: readonly string[];
  readonly rows: readonly CsvRow[];
  /** Lines whose number of cells is not that of the head. */
  readonly ragged: readonly number[];
}

/** The table of a text whose first row is the head. Cells are trimmed; empty lines are left out. */
export function parseCsv(text: string): CsvTable {
  const [head, ...rest] = splitCells(text.replace(/^\ufeff/, ''));
  const columns = head?.cells ?? [];
  const rows: CsvRow[] = [];
  const ragged: number[] = [];
  for (const { line, cells } of rest) {
    if (cells.length !== columns.length) ragged.push(line);
    else rows.push({ line, cells: Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ''])) });
  }
  return { columns, rows, ragged };
}

interface Cells {
  readonly line: number;
  readonly cells: readonly string[];
}

function splitCells(text: string): readonly Cells[] {
  const rows: Cells[] = [];
  let cells: string[] = [];
  let cell = '';
  let quoted = false;
  let line = 1;
  let start = 1;
  const endRow = (): void => {
    cells.push(cell.trim());
    if (cells.length > 1 || cells[0] !== '') rows.push({ line: start, cells });
    cells = [];
    cell = '';
    start = line + 1;
  };
  for (let index = 0; index < text.length; index++) {
    const character = text[index] as string;
    if (quoted && character === '"') {
      if (text[index + 1] === '"') {
        cell += '"';
        index += 1;
      } else quoted = false;
    } else if (quoted) cell += character;
    else if (character === '"') quoted = true;
    else if (character === ',') {
      cells.push(cell.trim());
      cell = '';
    } else if (character === '\n') endRow();
    else cell += character;
    if (character === '\n') line += 1;
  }
  if (cell !== '' || cells.length > 0) endRow();
  return rows;
}
