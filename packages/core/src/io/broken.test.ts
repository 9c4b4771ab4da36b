import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Issue, renderIssue } from '../errors/index.ts';
import { completeLayout, equalCosts } from '../layout/index.ts';
import { readJob, readModelConfig } from './index.ts';

interface Expected {
  readonly code: string;
  readonly path: string;
  /** Another file that the broken one names. */
  readonly file?: string;
  readonly line: number;
  /** The line from the caret on, at most 16 characters. */
  readonly caret: string;
}

interface Broken {
  readonly file: string;
  readonly issues: readonly Expected[];
  /** What the laws of layouts say of a file that reads well; others may stand beside. */
  readonly layoutIssues?: readonly Expected[];
}

const folder = new URL('../../../../test/fixtures/broken/', import.meta.url);
const load = (path: string): string | undefined => {
  try {
    return readFileSync(new URL(path, folder), 'utf8');
  } catch {
    return undefined;
  }
};
const index: readonly Broken[] = JSON.parse(load('index.json') ?? '[]');

function issuesOf(file: string): { readonly issues: readonly Issue[]; readonly layoutIssues: readonly Issue[] } {
  const text = load(file) ?? '';
  if (file.startsWith('config-') && file.endsWith('.json')) {
    return { issues: readModelConfig(text, file).issues, layoutIssues: [] };
  }
  const { job, issues, place } = readJob(text, file, { loadFile: load });
  const laws = job ? completeLayout(job.layout, job, equalCosts(job.model.layers.length)).issues : [];
  return { issues, layoutIssues: laws.map(place) };
}

const told = (file: string, { code, path, position }: Issue): Expected => ({
  code,
  path,
  ...(position && position.file !== file && { file: position.file }),
  line: position?.line ?? 0,
  caret: (position?.text.slice(position.column - 1) ?? '').slice(0, 16).trimEnd(),
});

describe('broken files', () => {
  it('are many', () => {
    expect(index.length).toBeGreaterThanOrEqual(44);
  });
  it.each(index)('$file: every issue, each at its place', ({ file, issues, layoutIssues = [] }) => {
    const found = issuesOf(file);
    expect(found.issues.map((each) => told(file, each))).toEqual(issues);
    for (const each of layoutIssues) expect(found.layoutIssues.map((law) => told(file, law))).toContainEqual(each);
    expect(issues.length + layoutIssues.length).toBeGreaterThan(0);
  });
  it.each(index)('$file: says what is wrong and what to do, in one grammar', ({ file }) => {
    const { issues, layoutIssues } = issuesOf(file);
    for (const each of [...issues, ...layoutIssues]) {
      expect(each.message).toMatch(/^\S.*\.$/);
      expect(each.hint).toMatch(/^[A-Z].*[.?]$/);
      const [head = '', line = '', caret = ''] = renderIssue(each).split('\n');
      expect(head).toMatch(/^[\w.-]+:\d+:\d+ {2}[A-Z][A-Z0-9_]+ {2}\S/);
      expect(caret.indexOf('^')).toBeLessThanOrEqual(line.length);
    }
  });
});
