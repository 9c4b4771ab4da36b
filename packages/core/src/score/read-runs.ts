/** @file Runs from the texts of tables: measured runs, memory figures, exclusions. */
import { type Issue, issue } from '../errors/index.ts';
import { type CsvTable, parseCsv } from './csv.ts';
import { neededColumns, type RunRow, runOf } from './run-row.ts';

/** A file by its name and text. */
export interface NamedText {
  readonly name: string;
  readonly text: string;
}

/** `rows` is empty when an issue is an error. */
export interface RunsReading {
  readonly rows: readonly RunRow[];
  readonly issues: readonly Issue[];
}

/** The runs of a table, with the figures of a memory table: rows with a known id gain them, others are added. */
export function readRuns(runs: NamedText, memory?: NamedText): RunsReading {
  const first = readTable(runs);
  const second = memory === undefined ? { rows: [], issues: [] } : readTable(memory);
  const issues = [...first.issues, ...second.issues];
  if (issues.some((each) => each.severity === 'error')) return { rows: [], issues };
  const figures = new Map(second.rows.map((row) => [row.id, row]));
  const known = new Set(first.rows.map((row) => row.id));
  const merged = first.rows.map((row) => {
    const figure = figures.get(row.id);
    return figure === undefined
      ? row
      : { ...row, peak_mem_GB: figure.peak_mem_GB, mem_kind: figure.mem_kind, outcome: figure.outcome };
  });
  return { rows: [...merged, ...second.rows.filter((row) => !known.has(row.id))], issues };
}

/** Ids with the reason why they are left out. */
export function readExclusions(file: NamedText): { reasons: ReadonlyMap<string, string>; issues: readonly Issue[] } {
  const table = parseCsv(file.text);
  const issues = issuesOf(table, ['id', 'reason'], file.name);
  return { reasons: new Map(table.rows.map(({ cells }) => [cells['id'] ?? '', cells['reason'] ?? ''])), issues };
}

function readTable({ name, text }: NamedText): RunsReading {
  const table = parseCsv(text);
  return { rows: table.rows.map(runOf), issues: issuesOf(table, neededColumns, name) };
}

function issuesOf({ columns, ragged }: CsvTable, needed: readonly string[], name: string): readonly Issue[] {
  const missing = needed.filter((column) => !columns.includes(column));
  return [
    ...missing.map((column) =>
      issue('KEY_MISSING', `${name}: ${column}`, `the column ${column} is absent.`, 'Add it; cells may be blank.'),
    ),
    ...ragged
      .slice(0, 3)
      .map((line) =>
        issue(
          'SYNTAX',
          `${name}:${line}`,
          `the row has another number of cells than the head, which has ${columns.length}.`,
          'Quote cells that hold commas.',
        ),
      ),
  ];
}
