import { InputError, type Issue, issue } from '@meshwright/core/errors';
import { CommanderError } from 'commander';
import { createCommand } from './command.ts';
import { type ExitCode, exitCodes, type Host } from './host.ts';
import { printErrorJson, printIssues } from './output/issues.ts';

/** Runs the command on `args` (without node and script) and turns what it throws into words on stderr, or one JSON
 * object on stdout where JSON is asked for, and an exit code. Never throws. */
export async function runCommand(args: readonly string[], host: Host): Promise<ExitCode> {
  let code: ExitCode = exitCodes.ok;
  const command = createCommand({ host, end: (given) => void (code = given) });
  if (args.length === 0) {
    command.outputHelp();
    return exitCodes.ok;
  }
  try {
    await command.parseAsync([...args], { from: 'user' });
    return code;
  } catch (error) {
    return explain(error, wantsJson(args), host);
  }
}

function explain(error: unknown, asJson: boolean, host: Host): ExitCode {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return exitCodes.ok;
    if (error.code === 'commander.help') return exitCodes.badInput;
    if (asJson) printErrorJson([argumentIssue(error)], host);
    else printIssues([argumentIssue(error)], host);
    return exitCodes.badInput;
  }
  if (error instanceof InputError) {
    if (asJson) printErrorJson(error.issues, host);
    else printIssues(error.issues, host);
    return exitCodes.badInput;
  }
  const known = error instanceof Error ? error : new Error(String(error));
  const message = known.message.startsWith('internal:') ? known.message : `internal: ${known.message}`;
  host.err.write(`${host.environment['MESHWRIGHT_DEBUG'] ? `${message}\n${known.stack}` : message}\n`);
  return exitCodes.internal;
}

const wantsJson = (args: readonly string[]): boolean =>
  args.some(
    (each, index) =>
      each === '--json' || each === '--format=json' || (args[index - 1] === '--format' && each === 'json'),
  );

/** What is wrong with the arguments, as an issue. */
function argumentIssue({ code, message }: CommanderError): Issue {
  const kind = /unknown/i.test(code) ? 'KEY_UNKNOWN' : /missing/i.test(code) ? 'KEY_MISSING' : 'VALUE_UNKNOWN';
  const words = message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
  const [, what = words, near] = /^(.*?)\s*\((Did you mean .*\?)\)$/.exec(words) ?? [];
  return issue(
    kind,
    'arguments',
    what.endsWith('.') ? what : `${what}.`,
    near ?? 'meshwright --help lists what there is.',
  );
}
