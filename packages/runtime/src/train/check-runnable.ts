/** @file What the runtime refuses before it starts: types that it does not compute, options out of range. */
import { type Issue, issue } from '@meshwright/core/errors';
import type { Program } from '@meshwright/core/program';
import type { TrainOptions } from './train-program.ts';

/** All that keeps a program from being run with these options. */
export function checkRunnable(program: Program, { steps }: Pick<TrainOptions, 'steps'>): readonly Issue[] {
  const issues: Issue[] = [];
  if (!Number.isSafeInteger(steps) || steps < 0) {
    const message = `${steps} is not a whole number of steps.`;
    issues.push(issue('VALUE_OUT_OF_RANGE', 'run.steps', message, 'Use 0 or more.', { steps }));
  }
  const buffers = [...program.buffers, ...program.lists.flatMap((list) => list.buffers)];
  const types = new Set(buffers.map(({ dtype }) => dtype).filter((dtype) => dtype === 'fp16' || dtype === 'fp8'));
  for (const type of types) {
    const message = `the program computes in ${type}, which the runtime does not execute.`;
    issues.push(issue('TYPE_NOT_EXECUTED', 'job.precision', message, 'Use fp32 or bf16.', { type }));
  }
  return issues;
}
