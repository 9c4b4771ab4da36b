/** @file How every command answers: the answer first, then the tables, then the reasons; or one JSON object. */
import { Option } from '@commander-js/extra-typings';
import type { Host } from '../host.ts';
import { paint } from './paint.ts';
import { renderCsv, renderMarkdown, renderText, type Table } from './table.ts';

export type Format = 'text' | 'md' | 'csv' | 'json';

/** What a command found out. */
export interface Report {
  /** The first line. */
  readonly answer: string;
  /** Between the answer and the tables, in text and Markdown. */
  readonly paragraphs?: readonly string[];
  /** The first one is what `--format csv` gives. */
  readonly tables: readonly Table[];
  /** One sentence each. */
  readonly reasons: readonly string[];
  /** The object of `--json`, schema first; made only when asked for. */
  readonly json: () => Readonly<{ schema: string }>;
}

/** `--json`: one object on stdout. */
export const jsonOption = (): Option<'--json', undefined, undefined, undefined, false, undefined> =>
  new Option('--json', 'print one JSON object instead').conflicts('format');

/** `--json` of a command that trains: progress as it comes, and the report last. */
export const jsonLinesOption: typeof jsonOption = () =>
  new Option('--json', 'print JSON lines instead: one for each step, the report last');

const formats = ['text', 'md', 'csv', 'json'] as const;

/** `--format`: how tables are written. */
export const formatOption = (): Option<'--format <FORMAT>', undefined, 'text', undefined, false, Format> =>
  new Option('--format <FORMAT>', 'how to write the result (csv: the first table alone)')
    .choices(formats)
    .default('text');

/** The format that the two options ask for. */
export const formatOf = (options: { readonly json?: true | undefined; readonly format: Format }): Format =>
  options.json ? 'json' : options.format;

/** Writes a report on stdout. */
export function printReport(report: Report, format: Format, host: Host): void {
  const { answer, paragraphs = [], tables, reasons } = report;
  switch (format) {
    case 'json':
      return host.out.write(`${JSON.stringify(report.json())}\n`);
    case 'csv':
      return host.out.write(tables[0] ? renderCsv(tables[0]) : '');
    case 'md': {
      const list = reasons.map((each) => `- ${each}\n`).join('');
      return host.out.write(
        `${[`**${answer}**\n`, ...paragraphs.map((each) => `${each}\n`), ...tables.map(renderMarkdown), list].filter(Boolean).join('\n')}`,
      );
    }
    case 'text': {
      const head = paint(host, host.out, 'bold', answer);
      const parts = [
        `${head}\n`,
        ...paragraphs.map((each) => `${each}\n`),
        ...tables.map(renderText),
        reasons.map((each) => `${each}\n`).join(''),
      ];
      return host.out.write(parts.filter(Boolean).join('\n'));
    }
  }
}
