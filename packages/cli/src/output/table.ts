/** @file Tables for terminals, Markdown and spreadsheets. A unit stands in the head of its column, never in a cell. */

/** One column: its head with the unit, and on which side it is aligned (numbers right). */
export interface Column {
  readonly head: string;
  readonly align?: 'left' | 'right';
}

/** A table of text cells. */
export interface Table {
  readonly title?: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
}

/** A column and how a row fills it. */
export interface Field<Row> extends Column {
  readonly cell: (row: Row, index: number) => string;
}

/** A left-aligned field. */
export const words = <Row>(head: string, cell: Field<Row>['cell']): Field<Row> => ({ head, cell });

/** A right-aligned field. */
export const numbers = <Row>(head: string, cell: Field<Row>['cell']): Field<Row> => ({ head, align: 'right', cell });

/** The table of `rows` under `fields`. */
export function tableOf<Row>(rows: readonly Row[], fields: readonly Field<Row>[], title?: string): Table {
  return {
    ...(title !== undefined && { title }),
    columns: fields.map(({ head, align = 'left' }) => ({ head, align })),
    rows: rows.map((row, index) => fields.map(({ cell }) => cell(row, index))),
  };
}

/** Aligned columns, two spaces apart, without trailing blanks. */
export function renderText({ title, columns, rows }: Table): string {
  const widths = columns.map(({ head }, index) =>
    Math.max(head.length, ...rows.map((row) => (row[index] ?? '').length)),
  );
  const line = (cells: readonly string[]): string =>
    columns
      .map(({ align }, index) => {
        const text = cells[index] ?? '';
        return align === 'right' ? text.padStart(widths[index] ?? 0) : text.padEnd(widths[index] ?? 0);
      })
      .join('  ')
      .trimEnd();
  const heads = columns.map(({ head }) => head);
  return [...(title === undefined ? [] : [title]), line(heads), ...rows.map(line)].map((each) => `${each}\n`).join('');
}

/** A Markdown table. */
export function renderMarkdown({ title, columns, rows }: Table): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  const rule = `|${columns.map(({ align }) => (align === 'right' ? '--:' : '---')).join('|')}|\n`;
  const head = line(columns.map((column) => column.head));
  return `${title === undefined ? '' : `**${title}**\n\n`}${head}${rule}${rows.map(line).join('')}`;
}

/** Comma-separated values as RFC 4180 writes them, with a head; thousands separators are left out of numbers. */
export function renderCsv({ columns, rows }: Table): string {
  const cell = (text: string): string => {
    const plain = /^~?-?[\d,]+(\.\d+)?$/.test(text) ? text.replaceAll(',', '') : text;
    return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
  };
  const lines = [columns.map(({ head }) => head), ...rows];
  return lines.map((cells) => `${cells.map(cell).join(',')}\n`).join('');
}
