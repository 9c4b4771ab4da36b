import { describe, expect, it } from 'vitest';
import { parseCsv } from './csv.ts';

describe('comma-separated values', () => {
  it('hold quotes, commas and line breaks in quoted cells, and say on which line a row begins', () => {
    const { columns, rows } = parseCsv('\ufeffa,b\r\n1,"x, ""y""\nz"\r\n\r\n 2 ,\n');
    expect(columns).toEqual(['a', 'b']);
    expect(rows).toEqual([
      { line: 2, cells: { a: '1', b: 'x, "y"\nz' } },
      { line: 5, cells: { a: '2', b: '' } },
    ]);
  });
  it('name lines with another number of cells', () => {
    expect(parseCsv('a,b\n1,2\n1\n1,2,3').ragged).toEqual([3, 4]);
  });
  it('may be empty', () => {
    expect(parseCsv('')).toEqual({ columns: [], rows: [], ragged: [] });
  });
});
