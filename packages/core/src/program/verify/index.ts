/** @file The verifier of step programs. Always on in tests. Each file states its law in prose above its rules: form
 * (structure.ts, operands.ts), types of dims and states (typing.ts, kernels.ts, collectives.ts, bucket-collectives.ts,
 * all-to-all.ts, optimizer.ts, over one period: period.ts), attention of several ranks (context-attention.ts), gradients (backward.ts, gradients.ts), exchanges (exchanges.ts), deadlock (deadlock.ts).
 */
import type { Issue } from '../../errors/index.ts';
import { degreesOf, expandList } from '../expand.ts';
import type { Program } from '../types.ts';
import { verifyContextAttention } from './context-attention.ts';
import { verifyDeadlock } from './deadlock.ts';
import { verifyExchanges } from './exchanges.ts';
import { verifyGradients } from './gradients.ts';
import { verifyPeriod } from './period.ts';
import { createReport } from './report.ts';
import { verifyStructure } from './structure.ts';

/** Everything that is wrong with a program, in the order of the rules; empty when it may be run.
 *
 * What a template repeats is said once, with `values.count`. Faults of form hide the other rules, and exchanges that do
 * not match hide the rule on deadlock: neither can be asked then. Which gradient goes where is asked last, of what is sound
 * otherwise.
 */
export function verifyProgram(program: Program): readonly Issue[] {
  const report = createReport(program);
  verifyStructure(program, report);
  if (report.issues().length > 0) return report.issues();
  const degrees = degreesOf(program);
  const lists = program.lists.map((list) => expandList(program, list));
  verifyContextAttention(program, degrees, report);
  for (const list of lists) verifyPeriod(program, list, degrees, report);
  const typed = report.issues().length;
  const meetings = verifyExchanges(program, lists, degrees, report);
  if (report.issues().length === typed) verifyDeadlock(lists, meetings, report);
  if (report.issues().every(({ severity }) => severity !== 'error')) verifyGradients(program, report);
  return report.issues();
}
