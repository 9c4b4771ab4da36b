/** @file The library entry of `meshwright`: the command as a value, for embedding in another program. */
export { createCommand, packageVersion } from './command.ts';
export { type ExitCode, exitCodes, type Host, type Session, type Stream } from './host.ts';
export { runCommand } from './run-command.ts';
