import type { Command } from '@commander-js/extra-typings';
import { InputError, renderIssue } from '@meshwright/core/errors';
import { CommanderError } from 'commander';

/** Exit codes of the contract: 0 ok, 1 nothing feasible or check failed, 2 bad input, 70 internal. */
export const exitCodes = { ok: 0, failed: 1, badInput: 2, internal: 70 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Runs `command` on `args` (without node and script) and turns what it throws into words on stderr and an exit code.
 * A subcommand that ends with "nothing feasible" sets `process.exitCode` itself. */
export async function runCommand(command: Command, args: readonly string[]): Promise<ExitCode> {
  exitOverrideAll(command);
  if (args.length === 0) {
    command.outputHelp();
    return exitCodes.ok;
  }
  try {
    await command.parseAsync([...args], { from: 'user' });
    return process.exitCode === exitCodes.failed ? exitCodes.failed : exitCodes.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.badInput;
    const asJson = args.includes('--json');
    if (error instanceof InputError) {
      if (asJson) console.log(JSON.stringify({ schema: 'meshwright.error/1', issues: error.issues }));
      else for (const each of error.issues) console.error(renderIssue(each));
      return exitCodes.badInput;
    }
    console.error(error instanceof Error ? error.message : String(error));
    return exitCodes.internal;
  }
}

/** Commander would end the process by itself; here it throws, in subcommands too. */
function exitOverrideAll(command: { exitOverride(): unknown; readonly commands: readonly unknown[] }): void {
  command.exitOverride();
  for (const each of command.commands) exitOverrideAll(each as typeof command);
}
