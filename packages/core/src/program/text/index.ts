/** @file The readable text form of programs. */
export { type ProgramParse, parseProgram } from './parse.ts';
export { type PrintOptions, printProgram } from './print.ts';
