import { describe, expect, it } from 'vitest';
import { numbers, renderCsv, renderMarkdown, renderText, tableOf, words } from './table.ts';

const table = tableOf(
  [
    { name: 'tensor', bytes: '1,024.5' },
    { name: 'a "b", c|d', bytes: '~8' },
  ],
  [words('axis', (row) => row.name), numbers('bytes MiB', (row) => row.bytes)],
);

describe('tables', () => {
  it('aligns numbers right and words left, without trailing blanks', () => {
    expect(renderText(table)).toBe(
      ['axis        bytes MiB', 'tensor        1,024.5', 'a "b", c|d         ~8', ''].join('\n'),
    );
  });

  it('writes Markdown with escaped bars', () => {
    expect(renderMarkdown({ ...table, title: 'Bytes' })).toBe(
      ['**Bytes**', '', '| axis | bytes MiB |', '|---|--:|', '| tensor | 1,024.5 |', '| a "b", c\\|d | ~8 |', ''].join(
        '\n',
      ),
    );
  });

  it('writes CSV with quotes where they are needed and numbers that a program reads', () => {
    expect(renderCsv(table)).toBe('axis,bytes MiB\ntensor,1024.5\n"a ""b"", c|d",~8\n');
  });

  it('writes an empty table as its head', () => {
    expect(renderText({ ...table, rows: [] })).toBe('axis  bytes MiB\n');
  });
});
