/** @file What may come of any text: an answer without a number that cannot be, or issues in words; within two seconds. */
import { InputError, type Issue, renderIssue } from '@meshwright/core/errors';

/** Processor seconds of one case beyond which it counts as hung. */
const LONGEST = 2;

/** What was seen of all cases. */
export interface Tally {
  cases: number;
  answered: number;
  refused: number;
  slowest: number;
  readonly codes: Map<string, number>;
  readonly faults: string[];
}

export const emptyTally = (): Tally => ({
  cases: 0,
  answered: 0,
  refused: 0,
  slowest: 0,
  codes: new Map(),
  faults: [],
});

/** What a case gave: numbers of `output` are looked at, issues are rendered. */
export interface Answer {
  readonly output?: unknown;
  readonly issues: readonly Issue[];
}

/** Runs one case and books what came of it under its name. */
export function tryCase(tally: Tally, name: string, text: string, run: () => Answer): void {
  let fault: string | undefined;
  const first = secondsOf(() => {
    fault = faultOf(tally, run);
  });
  // A second time where it seemed to hang: the garbage of what ran before may have been collected meanwhile.
  const seconds =
    first > LONGEST
      ? Math.min(
          first,
          secondsOf(() => faultOf(emptyTally(), run)),
        )
      : first;
  tally.cases += 1;
  tally.slowest = Math.max(tally.slowest, seconds);
  const why = fault ?? (seconds > LONGEST ? `took ${seconds.toFixed(1)} s of processor time` : undefined);
  if (why !== undefined)
    tally.faults.push(`${name}: ${why}\n  ${JSON.stringify(text.length > 2000 ? `${text.slice(0, 2000)}...` : text)}`);
}

/** Processor seconds of this process. */
function secondsOf(work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1e6;
}

function faultOf(tally: Tally, run: () => Answer): string | undefined {
  try {
    const { output, issues } = run();
    for (const { code } of issues) tally.codes.set(code, (tally.codes.get(code) ?? 0) + 1);
    if (issues.some(({ severity }) => severity === 'error')) tally.refused += 1;
    else tally.answered += 1;
    return issues.map(issueFault).find((each) => each !== undefined) ?? impossible(output, 'output', new Set());
  } catch (error) {
    if (error instanceof InputError) {
      tally.refused += 1;
      for (const { code } of error.issues) tally.codes.set(code, (tally.codes.get(code) ?? 0) + 1);
      return error.issues.length === 0
        ? 'refused without an issue'
        : error.issues.map(issueFault).find((each) => each !== undefined);
    }
    return `threw ${error instanceof Error ? (error.stack ?? error.message).slice(0, 900) : String(error)}`;
  }
}

/** An issue that no user should meet. */
function issueFault(each: Issue): string | undefined {
  const text = renderIssue(each);
  if (/^internal|\binternal:/.test(each.message)) return `an internal issue: ${text.slice(0, 500)}`;
  if (/\bundefined\b|\[object /.test(`${each.message} ${each.hint ?? ''}`))
    return `words of the program itself: ${text.slice(0, 500)}`;
  if (text.length > 20_000) return `${text.length} characters in one issue ${each.code}`;
  return undefined;
}

/** The place of the first number that is negative or not finite; objects that stand twice are looked at once. */
function impossible(value: unknown, path: string, seen: Set<object>): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? undefined : `${path} is ${value}`;
  if (typeof value !== 'object' || value === null || seen.has(value)) return undefined;
  seen.add(value);
  for (const [key, each] of Object.entries(value)) {
    const found = impossible(each, `${path}.${key}`, seen);
    if (found !== undefined) return found;
  }
  return undefined;
}
