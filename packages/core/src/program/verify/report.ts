/** @file Collects issues of a program. What a template repeats for each layer and micro-batch is said once. */
import { type Code, type Issue, issue, type Severity } from '../../errors/index.ts';
import type { ExpandedOperation } from '../expand.ts';
import type { Operation, Program } from '../types.ts';

/** What is wrong, before it has a place. */
export interface Finding {
  readonly code: Code;
  /** Ends with a full stop. */
  readonly message: string;
  /** Ends with a full stop. */
  readonly hint: string;
  readonly severity?: Severity;
}

export interface Report {
  /** Something wrong with an operation of a list. */
  readonly at: (list: string, operation: ExpandedOperation, finding: Finding) => void;
  /** Something wrong elsewhere. */
  readonly on: (path: string, finding: Finding) => void;
  readonly issues: () => readonly Issue[];
}

export function createReport(program: Program): Report {
  const places = templatePlaces(program);
  const found = new Map<string, { issue: Issue; count: number }>();
  const add = (key: string, path: string, finding: Finding): void => {
    const known = found.get(key);
    if (known) {
      known.count += 1;
      return;
    }
    const { code, message, hint, severity = 'error' } = finding;
    found.set(key, { issue: { ...issue(code, path, message, hint), severity }, count: 1 });
  };
  return {
    at: (list, { item, operation }, finding) => {
      const place = places.get(operation);
      const head = place === undefined ? '' : `${place} `;
      const path = `${list}:${item} ${head}${labelOf(operation)}`;
      // What differs only in layer and micro-batch is one thing: `n1[2,0]`, `x3[0]`.
      const said = place === undefined ? finding.message : finding.message.replace(/\d*\[[-\d,]+\]/g, '');
      add(`${finding.code} ${place ?? `${list}:${item}`} ${said}`, path, finding);
    },
    on: (path, finding) => add(`${finding.code} ${path} ${finding.message}`, path, finding),
    issues: () =>
      [...found.values()].map(({ issue: each, count }) => (count > 1 ? { ...each, values: { count } } : each)),
  };
}

/** `compute gemm`, `all-gather over tensor`, `send x1[0]`. */
export function labelOf(operation: Operation): string {
  switch (operation.kind) {
    case 'compute':
      return `compute ${operation.kernel}`;
    case 'collective':
      return `${operation.collective} over ${operation.axis}`;
    case 'send':
      return `send ${operation.reads[0] ?? ''}`;
    case 'recv':
      return `recv ${operation.writes[0]?.buffer ?? ''}`;
    case 'wait':
    case 'host':
    case 'mark':
    case 'alloc':
    case 'free':
      return operation.kind;
  }
}

/** `F.layer:7` for each operation of a template. */
function templatePlaces(program: Program): ReadonlyMap<Operation, string> {
  const places = new Map<Operation, string>();
  for (const { name, operations } of program.templates) {
    operations.forEach((operation, index) => {
      places.set(operation, `${name}:${index + 1}`);
    });
  }
  return places;
}
