/** @file `meshwright program`: the step program itself, as text or JSON; its verdict; what differs between two. */
import { Command } from '@commander-js/extra-typings';
import { InputError, issue } from '@meshwright/core/errors';
import {
  bytesSent,
  diffPrograms,
  type ListBytes,
  type Program,
  type ProgramBytes,
  printProgram,
  programToJson,
  verifyProgram,
} from '@meshwright/core/program';
import { exitCodes, type Host, type Session } from '../host.ts';
import { type ProgramSource, readProgramSource } from '../input/program-file.ts';
import { printIssues } from '../output/issues.ts';
import { count, whole } from '../output/numbers.ts';
import { jsonOption } from '../output/report.ts';
import { numbers, renderText, type Table, tableOf, words } from '../output/table.ts';

/** Adds `program print | verify | diff`. */
export function registerProgram(command: Command, session: Session): void {
  command
    .command('program')
    .description('The step program of a layout: what each rank computes and exchanges in one step.')
    .helpCommand(false)
    .addCommand(printCommand(session).copyInheritedSettings(command as Command))
    .addCommand(verifyCommand(session).copyInheritedSettings(command as Command))
    .addCommand(diffCommand(session).copyInheritedSettings(command as Command));
}

const jobWords = 'a job file, or a program as text or JSON; - for standard input';
const layoutWords = 'layout keys over those of the job, as in tp=8,pp=4';

const printCommand = ({ host }: Session) =>
  new Command('print')
    .description('Prints the program; what is printed can be read again.')
    .argument('<JOB>', jobWords)
    .option('--layout <KEYS>', layoutWords)
    .option('--list <NAME...>', 'only these rank lists, as in P0')
    .addOption(jsonOption())
    .action((path, options) => {
      const { program, issues } = readProgramSource(path, options.layout, host);
      if (options.json) return host.out.write(`${JSON.stringify(programToJson(program))}\n`);
      printIssues(issues, host);
      host.out.write(printProgram(program, options.list ? { lists: options.list } : {}));
    });

const verifyCommand = ({ host, end }: Session) =>
  new Command('verify')
    .description('Checks the program against the laws of exchanges, states and lifetimes.')
    .argument('<JOB>', jobWords)
    .option('--layout <KEYS>', layoutWords)
    .addOption(jsonOption())
    .action((path, options) => {
      const source = readProgramSource(path, options.layout, host);
      const found = verifyProgram(source.program);
      const ok = found.length === 0;
      if (!ok) end(exitCodes.failed);
      // A program with faults may name what is not there: its bytes mean nothing.
      const bytes = ok ? bytesSent(source.program) : undefined;
      if (options.json) {
        const issues = [...source.issues, ...found];
        return host.out.write(
          `${JSON.stringify({ schema: 'meshwright.verify/1', ok, name: source.program.name, ...(bytes && { bytes: bytesOf(bytes) }), issues })}\n`,
        );
      }
      printIssues([...source.issues, ...found], host);
      host.out.write(
        `${ok ? `verified: ${sizeOf(source.program)}, nothing is wrong` : `${count(found.length, 'fault')} in ${sizeOf(source.program)}`}\n`,
      );
      if (bytes === undefined) return;
      host.out.write(
        `\n${renderText(ledgerTable(bytes))}\n${whole(bytes.totalBytes)} bytes are sent in a step, all ranks together.\n`,
      );
    });

/** What one rank of each list sends, axis by axis, and how many ranks do so. */
const bytesOf = ({ lists, totalBytes }: ProgramBytes) => ({
  totalBytes,
  lists: lists.map(({ list, ranks, byAxis }) => ({
    list,
    ranks,
    bytesByAxis: Object.fromEntries(Object.entries(byAxis).map(([axis, sent]) => [axis, sent.bytes])),
  })),
});

function ledgerTable({ lists }: ProgramBytes): Table {
  const axes = [...new Set(lists.flatMap((list) => Object.keys(list.byAxis)))].sort();
  return tableOf(lists, [
    words('list', ({ list }) => list),
    numbers('ranks', ({ ranks }) => whole(ranks)),
    ...axes.map((axis) => numbers<ListBytes>(`${axis} B`, ({ byAxis }) => whole(byAxis[axis]?.bytes ?? 0))),
    numbers('sent by a rank B', ({ total }) => whole(total.bytes)),
  ]);
}

const diffCommand = ({ host }: Session) =>
  new Command('diff')
    .description('What differs between two programs: of two files, or of one job under two layouts.')
    .argument('<JOB>', jobWords)
    .argument('[OTHER]', 'another job or program; absent: the same with --against')
    .option('--layout <KEYS>', layoutWords)
    .option('--against <KEYS>', 'layout keys of the other side; those of --layout hold there too')
    .addOption(jsonOption())
    .action((path, other, options) => {
      if (other === undefined && options.against === undefined) {
        const hint = 'Name another job or program, or layout keys by --against.';
        throw new InputError([issue('KEY_MISSING', 'OTHER', 'there is nothing to compare with.', hint)]);
      }
      const before = readProgramSource(path, options.layout, host);
      const after = readProgramSource(other ?? path, joinKeys(options.layout, options.against), host);
      const { sections, text } = diffPrograms(before.program, after.program);
      if (options.json) {
        return host.out.write(
          `${JSON.stringify({ schema: 'meshwright.diff/1', equal: sections.length === 0, sections })}\n`,
        );
      }
      warn([before, after], host);
      const removed = sections.reduce((sum, section) => sum + section.removed, 0);
      const added = sections.reduce((sum, section) => sum + section.added, 0);
      const answer =
        sections.length === 0
          ? 'the programs are equal'
          : `${count(sections.length, 'section')} differ: ${count(removed, 'line')} removed, ${count(added, 'line')} added`;
      host.out.write(`${answer}\n${text === '' ? '' : `\n${text}`}`);
    });

/** Keys of the second text replace those of the first that have the same name. */
function joinKeys(base: string | undefined, over: string | undefined): string | undefined {
  if (base === undefined || over === undefined) return over ?? base;
  const named = (text: string) => text.split(',').map((each) => [each.split('=')[0]?.trim() ?? '', each] as const);
  return [...new Map([...named(base), ...named(over)]).values()].join(',');
}

const warn = (sources: readonly ProgramSource[], host: Host): void => {
  for (const { issues } of sources) printIssues(issues, host);
};

function sizeOf({ name, lists, templates }: Program): string {
  const lines = lists.reduce((sum, list) => sum + list.items.length, 0);
  const operations = templates.reduce((sum, template) => sum + template.operations.length, 0);
  return `${name}: ${count(lists.length, 'list')} of ${count(lines, 'line')}, ${count(templates.length, 'template')} of ${count(operations, 'operation')}`;
}
