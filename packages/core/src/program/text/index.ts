/** @file The readable text form of programs. */
export { type PrintOptions, printProgram } from './print.ts';
