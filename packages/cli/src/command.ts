import { readFileSync } from 'node:fs';
import { Command } from '@commander-js/extra-typings';
import { registrations } from './commands/index.ts';
import type { Session } from './host.ts';

/** The version of this package; the file stands at the same place seen from `src` and from `dist`. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return (manifest as { version: string }).version;
}

/** The command `meshwright` with all its subcommands, not yet run. It throws instead of ending the process, and what it
 * has to say about its arguments is the message of what it throws. */
export function createCommand(session: Session): Command {
  const { out, err } = session.host;
  const command = new Command('meshwright')
    .description('Plans, simulates and proves how to split the training of a large model over many GPUs.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => out.write(text),
      writeErr: (text) => err.write(text),
      outputError: () => undefined,
      getOutHelpWidth: () => (out.isTerminal ? out.columns : 100),
      getOutHasColors: () => false,
    });
  for (const register of registrations) register(command, session);
  return command;
}
