import { readFileSync } from 'node:fs';
import { Command } from '@commander-js/extra-typings';
import { registrations } from './commands/index.ts';

/** The version of this package; the file stands at the same place seen from `src` and from `dist`. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return (manifest as { version: string }).version;
}

/** The command `meshwright` with all its subcommands, not yet run. */
export function createCommand(): Command {
  const command = new Command('meshwright')
    .description('Plans, simulates and proves how to split the training of a large model over many GPUs.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .showSuggestionAfterError(true);
  for (const register of registrations) register(command);
  return command;
}
