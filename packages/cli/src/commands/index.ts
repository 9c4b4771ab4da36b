import type { Command } from '@commander-js/extra-typings';

/** Adds one subcommand to the command `meshwright`. Each file of this folder exports one. */
export type Registration = (command: Command) => void;

/** Every subcommand, in the order of the help text. */
export const registrations: readonly Registration[] = [];
