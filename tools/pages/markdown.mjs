/** @file Pieces of Markdown that generated pages share. */

/** A value in a cell of a table. */
export const cell = (value) => String(value).replaceAll('|', '\\|').replaceAll('\n', ' ');

/** A table from its head and rows; columns named in `right` are aligned to the right. */
export const table = (head, rows, right = []) => [
  `| ${head.map(cell).join(' | ')} |`,
  `|${head.map((name) => (right.includes(name) ? '--:' : '---')).join('|')}|`,
  ...rows.map((row) => `| ${row.map(cell).join(' | ')} |`),
];

/** Text in code marks; a dash for what is absent. */
export const code = (text) => (text === undefined || text === '' ? '-' : `\`${text}\``);
