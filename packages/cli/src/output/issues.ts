/** @file Issues on their way to a person (stderr) or to a program (stdout). */
import { type Issue, renderIssue } from '@meshwright/core/errors';
import type { Host } from '../host.ts';
import { paint } from './paint.ts';

/** Every issue on stderr with its place, the line and a caret; warnings and notes say what they are. */
export function printIssues(issues: readonly Issue[], host: Host): void {
  for (const each of issues) {
    const { severity } = each;
    const colour = severity === 'error' ? 'red' : severity === 'warning' ? 'yellow' : 'dim';
    const label = severity === 'error' ? '' : `${paint(host, host.err, colour, `${severity}:`)} `;
    const text = renderIssue(each).replace(each.code, () => paint(host, host.err, colour, each.code));
    host.err.write(`${label}${text}\n`);
  }
}

/** The JSON form of errors, on stdout. */
export function printErrorJson(issues: readonly Issue[], host: Host): void {
  host.out.write(`${JSON.stringify({ schema: 'meshwright.error/1', issues })}\n`);
}
