import { createCommand } from './command.ts';
import { runCommand } from './run-command.ts';

process.exitCode = await runCommand(createCommand(), process.argv.slice(2));
