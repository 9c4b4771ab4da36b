/** @file A difference of programs for people. */
import type { Edit } from './edits.ts';
import type { DiffLine, SectionDiff, SectionKind } from './index.ts';

/** Unchanged lines that are shown before and after a change. */
const CONTEXT = 2;

const titles: Readonly<Record<SectionKind, (name: string) => string>> = {
  header: () => 'program',
  buffers: () => 'buffers',
  template: (name) => `template ${name}`,
  buckets: (name) => `buckets of list ${name}`,
  units: (name) => `units of list ${name}`,
  'list-buffers': (name) => `buffers of list ${name}`,
  lines: (name) => `lines of list ${name}`,
};

/** Sections under their titles; empty for none. */
export const renderSections = (sections: readonly SectionDiff[]): string =>
  sections.map((section) => `${renderSection(section).join('\n')}\n`).join('\n');

function renderSection({ kind, name, edits, removed, added }: SectionDiff): readonly string[] {
  const width = edits.reduce((most, edit) => Math.max(most, String(lineOf(edit).number ?? '').length), 0);
  const lines: string[] = [`${titles[kind](name)}: ${counted(removed, 'removed')}, ${counted(added, 'added')}`];
  let skipped = 0;
  for (const [index, edit] of edits.entries()) {
    if (edit.kind === 'same' && !nearChange(edits, index)) {
      skipped += 1;
      continue;
    }
    if (skipped > 0) lines.push(`  ... ${skipped} unchanged`);
    skipped = 0;
    const { number, text } = lineOf(edit);
    const mark = edit.kind === 'same' ? ' ' : edit.kind === 'removed' ? '-' : '+';
    const shown = width === 0 ? '' : `${String(number ?? '').padStart(width)}  `;
    lines.push(`${mark} ${shown}${text}`);
  }
  if (skipped > 0) lines.push(`  ... ${skipped} unchanged`);
  return lines;
}

const lineOf = (edit: Edit<DiffLine>): DiffLine => edit.after ?? edit.before ?? { text: '' };

const counted = (count: number, what: string): string => `${count} ${count === 1 ? 'line' : 'lines'} ${what}`;

function nearChange(edits: readonly Edit<DiffLine>[], index: number): boolean {
  for (let near = index - CONTEXT; near <= index + CONTEXT; near++) {
    const kind = edits[near]?.kind;
    if (kind !== undefined && kind !== 'same') return true;
  }
  return false;
}
