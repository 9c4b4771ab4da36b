/** @file Issues on their way to a person (stderr) or to a program (stdout). */
import { type Issue, renderIssue } from '@meshwright/core/errors';
import type { Host } from '../host.ts';
import { whole } from './numbers.ts';
import { paint } from './paint.ts';

/** Issues of one kind that are printed in full; of a damaged file there may be thousands. */
const MOST = 40;

/** Issues on stderr with their place, the line and a caret; warnings and notes say what they are. Of very many the first
 * are printed, and the others counted.
 */
export function printIssues(issues: readonly Issue[], host: Host): void {
  for (const each of issues.slice(0, MOST)) {
    const { severity } = each;
    const colour = severity === 'error' ? 'red' : severity === 'warning' ? 'yellow' : 'dim';
    const label = severity === 'error' ? '' : `${paint(host, host.err, colour, `${severity}:`)} `;
    const text = renderIssue(each).replace(each.code, () => paint(host, host.err, colour, each.code));
    host.err.write(`${label}${text}\n`);
  }
  const counts = new Map<string, number>();
  for (const { code } of issues.slice(MOST)) counts.set(code, (counts.get(code) ?? 0) + 1);
  if (counts.size === 0) return;
  const left = [...counts].map(([code, count]) => `${whole(count)} ${code}`).join(', ');
  host.err.write(`and ${whole(issues.length - MOST)} more: ${left}.\n`);
}

/** The JSON form of errors, on stdout. */
export function printErrorJson(issues: readonly Issue[], host: Host): void {
  host.out.write(`${JSON.stringify({ schema: 'meshwright.error/1', issues })}\n`);
}
