import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toyProgram } from '../fixtures/toy.fixture.ts';
import type { Item, Program } from '../types.ts';
import { editsBetween } from './edits.ts';
import { diffPrograms } from './index.ts';

const toy = toyProgram();

/** The toy program with the lines of one list changed and numbered anew; needs follow their lines. */
function withLines(change: (items: readonly Item[]) => readonly Item[]): Program {
  const lists = toy.lists.map((list, index) => {
    if (index > 0) return list;
    const items = change(list.items);
    const renumbered = (id: number): number => 1 + items.findIndex((item) => item.id === id);
    return {
      ...list,
      items: items.map((item, at) => ({ ...item, id: at + 1, needs: item.needs.map(renumbered) })),
    };
  });
  return { ...toy, lists };
}

type Path = readonly (string | number)[];

const leavesOf = (value: unknown, path: Path): readonly Path[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, each]) =>
        leavesOf(each, [...path, Array.isArray(value) ? Number(key) : key]),
      )
    : [path];

/** A copy in which one leaf has another value. */
function changed(value: unknown, [key, ...rest]: Path): unknown {
  if (key === undefined)
    return typeof value === 'number' ? value + 1 : typeof value === 'string' ? `${value}z` : !value;
  if (Array.isArray(value)) return value.map((each: unknown, index) => (index === key ? changed(each, rest) : each));
  const record = value as Readonly<Record<string, unknown>>;
  return { ...record, [key]: changed(record[key], rest) };
}

describe('differences of programs', () => {
  it('are empty between equal ones', () => {
    expect(diffPrograms(toy, toyProgram())).toEqual({ sections: [], text: '' });
  });

  it('leave out lines that only have a new number, and needs that follow', () => {
    const shorter = withLines((items) => items.slice(1));
    expect(diffPrograms(toy, shorter).text).toMatchInlineSnapshot(`
      "lines of list P0: 1 line removed, 0 lines added
            list P0 pipeline:0
      -  1  data.gather  all-gather:flat  W.body  -> W.body  why gather-updated of body
         1  data.gather  all-gather:flat  W.tied  -> W.tied  why gather-updated of tied
         2  compute  F.embed[0]  tokens[0]  -> x0[0]
        ... 21 unchanged
      "
    `);
  });

  it('show what changed in a template, a size and a buffer', () => {
    const other: Program = {
      ...toy,
      microBatches: 4,
      buffers: toy.buffers.map((buffer) => (buffer.name === 'f' ? { ...buffer, dtype: 'fp8' as const } : buffer)),
      templates: toy.templates.map((template) =>
        template.name === 'F.embed' ? { ...template, operations: template.operations.slice(0, 2) } : template,
      ),
    };
    const { sections, text } = diffPrograms(toy, other);
    expect(sections.map(({ kind, name, removed, added }) => [kind, name, removed, added])).toEqual([
      ['header', '', 1, 1],
      ['buffers', '', 1, 1],
      ['template', 'F.embed', 1, 0],
    ]);
    expect(text).toContain('- sizes layers:2 micro-batches:2 loss-scale:1/16\n+ sizes layers:2 micro-batches:4');
  });

  it('show any value that is not the same', () => {
    const leaves = leavesOf(toy, []).filter((path) => !['id', 'kind'].includes(String(path[path.length - 1])));
    fc.assert(
      fc.property(fc.constantFrom(...leaves), (path) => {
        const other = changed(toy, path) as Program;
        expect(diffPrograms(toy, other).sections.length).toBeGreaterThan(0);
      }),
      { numRuns: 150 },
    );
  });

  it('show lines that need another of two lines that read alike', () => {
    const needing = (id: number): Program =>
      withLines((items) => {
        const [first, ...rest] = items;
        if (first === undefined) return items;
        return [first, { ...first, id: 100 }, ...rest].map((item, index, all) =>
          index === all.length - 1 ? { ...item, needs: [id] } : item,
        );
      });
    expect(diffPrograms(needing(1), needing(100)).sections.map(({ removed, added }) => [removed, added])).toEqual([
      [1, 1],
    ]);
  });

  it('show sections that one program has and the other has not', () => {
    const { text } = diffPrograms({ ...toy, lists: toy.lists.slice(0, 1) }, toy);
    expect(text).toContain('lines of list P1: 0 lines removed, 26 lines added');
  });
});

describe('edits', () => {
  const letters = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 });
  const longest = (a: readonly string[], b: readonly string[]): number => {
    const [head, ...rest] = a;
    if (head === undefined || b.length === 0) return 0;
    const at = b.indexOf(head);
    return Math.max(longest(rest, b), at < 0 ? 0 : 1 + longest(rest, b.slice(at + 1)));
  };

  it('lead from one to the other, keeping as much as there is in common', () => {
    fc.assert(
      fc.property(letters, letters, (a, b) => {
        const edits = editsBetween(a, b, (each) => each);
        expect(edits.flatMap((edit) => edit.before ?? [])).toEqual(a);
        expect(edits.flatMap((edit) => edit.after ?? [])).toEqual(b);
        expect(edits.filter((edit) => edit.kind === 'same').length).toBe(longest(a, b));
      }),
    );
  });
});
