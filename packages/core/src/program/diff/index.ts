/** @file What differs between two programs, section by section and line by line. */

import { type Vocabulary, vocabularyOf } from '../text/calls.ts';
import { itemCells, operationCells } from '../text/operation-cells.ts';
import { headerLines, templateHeader } from '../text/print.ts';
import { bucketLine, bufferCells, unitLine, viewCells } from '../text/tables.ts';
import { nameWord } from '../text/words.ts';
import type { Item, Program, RankList } from '../types.ts';
import { type Edit, editsBetween } from './edits.ts';
import { renderSections } from './render.ts';

export type SectionKind = 'header' | 'buffers' | 'template' | 'buckets' | 'units' | 'list-buffers' | 'lines';

/** One line of a section: its number where lines are numbered, and its text without it. */
export interface DiffLine {
  readonly number?: number;
  readonly text: string;
}

/** A section in which something differs. `name` is that of the template or list; empty for the whole program. */
export interface SectionDiff {
  readonly kind: SectionKind;
  readonly name: string;
  /** All lines in order, the unchanged ones among them. */
  readonly edits: readonly Edit<DiffLine>[];
  readonly removed: number;
  readonly added: number;
}

export interface ProgramDiff {
  /** Sections that differ, in the order of the text form; none when the programs are equal. */
  readonly sections: readonly SectionDiff[];
  /** Readable form with `- ` and `+ ` lines among a few that did not change; empty when the programs are equal. */
  readonly text: string;
}

/** What differs between two programs. A line whose number changed, but nothing else, is the same line; so is one that
 * needs the same lines under new numbers.
 */
export function diffPrograms(before: Program, after: Program): ProgramDiff {
  const a = sectionsOf(before);
  const b = sectionsOf(after);
  const keys = editsBetween([...a.keys()], [...b.keys()], (key) => key).map((edit) => edit.before ?? edit.after ?? '');
  const sections = [...new Set(keys)].flatMap((key) => {
    const section = a.get(key) ?? b.get(key);
    return section ? diffSection(section, a.get(key)?.lines ?? [], b.get(key)?.lines ?? []) : [];
  });
  return { sections, text: renderSections(sections) };
}

interface KeyedLine extends DiffLine {
  /** What makes it the same line in another program. */
  readonly key: string;
  readonly needs?: readonly number[];
}

interface Section {
  readonly kind: SectionKind;
  readonly name: string;
  readonly lines: readonly KeyedLine[];
}

function diffSection(
  { kind, name }: Section,
  before: readonly KeyedLine[],
  after: readonly KeyedLine[],
): readonly SectionDiff[] {
  const keyed = apart(editsBetween(before, after, (line) => line.key));
  const edits = keyed.map(
    (edit): Edit<DiffLine> => ({
      kind: edit.kind,
      before: edit.before && shownLine(edit.before),
      after: edit.after && shownLine(edit.after),
    }),
  );
  const removed = edits.filter((edit) => edit.kind === 'removed').length;
  const added = edits.filter((edit) => edit.kind === 'added').length;
  return removed + added === 0 ? [] : [{ kind, name, edits, removed, added }];
}

/** Sections by a key that is the same in both programs. */
function sectionsOf(program: Program): ReadonlyMap<string, Section> {
  const vocabulary = vocabularyOf(program);
  const sections: readonly Section[] = [
    { kind: 'header', name: '', lines: [...headerLines(program), ...orderLines(program)].map(plain) },
    { kind: 'buffers', name: '', lines: program.buffers.map((buffer) => cells(bufferCells(buffer))) },
    ...program.templates.map(
      (template): Section => ({
        kind: 'template',
        name: template.name,
        lines: [
          plain(templateHeader(template)),
          ...template.operations.map((operation, index) => ({
            ...cells(operationCells(operation)),
            number: index + 1,
          })),
        ],
      }),
    ),
    ...program.lists.flatMap((list) => listSections(vocabulary, list)),
  ];
  return new Map(sections.map((section) => [`${section.kind} ${section.name}`, section]));
}

function listSections(vocabulary: Vocabulary, list: RankList): readonly Section[] {
  const { name } = list;
  const { layers } = vocabulary.program;
  const buckets = list.buckets.flatMap((bucket) => [
    plain(bucketLine(bucket)),
    ...bucket.views.map((view) => cells(viewCells(view, layers))),
  ]);
  const units = list.units.map((unit) => plain(unitLine(unit)));
  const lines = list.items.map((item) => itemLine(vocabulary, list, item));
  return [
    { kind: 'buckets', name, lines: buckets },
    { kind: 'units', name, lines: units },
    { kind: 'list-buffers', name, lines: list.buffers.map((buffer) => cells(bufferCells(buffer))) },
    { kind: 'lines', name, lines: [plain(`list ${nameWord(name)} pipeline:${list.pipeline}`), ...lines] },
  ];
}

/** Numbers of needed lines move when lines are put in; what those lines do does not. What a call takes and gives follows
 * from its template, which has a section of its own.
 */
function itemLine(vocabulary: Vocabulary, list: RankList, item: Item): KeyedLine {
  const bare = (each: Item): string => {
    const [lane, verb, reads, writes, ...tail] = itemCells(vocabulary, { ...each, needs: [] });
    return (each.kind === 'call' ? [lane, verb, ...tail] : [lane, verb, reads, writes, ...tail]).join(' ');
  };
  const needed = item.needs.map((id) => {
    const target = list.items[id - 1];
    return target ? bare(target) : String(id);
  });
  const { text } = cells(itemCells(vocabulary, item));
  return { number: item.id, text, key: [bare(item), ...needed].join('\n'), needs: item.needs };
}

/** Lines that read alike but need different ones among lines that read alike are not the same. */
function apart(edits: readonly Edit<KeyedLine>[]): readonly Edit<KeyedLine>[] {
  const moved = new Map(edits.map(({ before, after }) => [before?.number, after?.number]));
  return edits.flatMap((edit): readonly Edit<KeyedLine>[] => {
    const { before, after } = edit;
    const follows = before?.needs?.every((id, index) => [undefined, after?.needs?.[index]].includes(moved.get(id)));
    if (before === undefined || after === undefined || follows !== false) return [edit];
    return [
      { kind: 'removed', before, after: undefined },
      { kind: 'added', before: undefined, after },
    ];
  });
}

const shownLine = ({ number, text }: KeyedLine): DiffLine => ({ ...(number !== undefined && { number }), text });

const plain = (text: string): KeyedLine => ({ text, key: text });

const cells = (parts: readonly string[]): KeyedLine => plain(parts.filter((part) => part !== '').join('  '));

/** The order of templates and lists, which is no section of its own. */
const orderLines = ({ templates, lists }: Program): readonly string[] => [
  `templates ${templates.map(({ name }) => nameWord(name)).join(' ')}`,
  `lists ${lists.map(({ name }) => nameWord(name)).join(' ')}`,
];
