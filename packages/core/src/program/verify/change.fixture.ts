/** @file Small changes of a program, for tests that break it. */
import type { BufferDeclaration, Item, Operation, Program, RankList, View } from '../types.ts';

/** Changes the operation `at` (from 1) of a template; an empty list leaves it out, two stand in its place. */
export const changeTemplate = (
  program: Program,
  name: string,
  at: number,
  change: (operation: Operation) => readonly Operation[],
): Program => ({
  ...program,
  templates: program.templates.map((template) =>
    template.name === name
      ? {
          ...template,
          operations: template.operations.flatMap((each, index) => (index + 1 === at ? change(each) : [each])),
        }
      : template,
  ),
});

/** Changes the line `id` of a list; lines and needs are numbered anew. */
export const changeLine = (
  program: Program,
  list: string,
  id: number,
  change: (item: Item) => readonly Item[],
): Program =>
  changeList(program, list, (each) => ({
    ...each,
    items: renumbered(each.items.flatMap((item) => (item.id === id ? change(item) : [item]))),
  }));

/** Changes the operation of line `id` of a list. */
export const changeOperation = (
  program: Program,
  list: string,
  id: number,
  change: (operation: Operation) => Operation,
): Program =>
  changeLine(program, list, id, (item) =>
    item.kind === 'operation' ? [{ ...item, operation: change(item.operation) }] : [item],
  );

/** Moves a line behind another. */
export const moveLine = (program: Program, list: string, id: number, behind: number): Program =>
  changeList(program, list, (each) => {
    const moved = each.items.find((item) => item.id === id);
    const items = each.items.flatMap((item) =>
      item.id === id ? [] : item.id === behind && moved ? [item, moved] : [item],
    );
    return { ...each, items: renumbered(items) };
  });

export const changeList = (program: Program, list: string, change: (list: RankList) => RankList): Program => ({
  ...program,
  lists: program.lists.map((each) => (each.name === list ? change(each) : each)),
});

/** Changes a buffer of the program or of its lists. */
export const changeBuffer = (program: Program, name: string, change: Partial<BufferDeclaration>): Program => {
  const changed = (buffers: readonly BufferDeclaration[]): readonly BufferDeclaration[] =>
    buffers.map((buffer) => (buffer.name === name ? { ...buffer, ...change } : buffer));
  return {
    ...program,
    buffers: changed(program.buffers),
    lists: program.lists.map((list) => ({ ...list, buffers: changed(list.buffers) })),
  };
};

/** Changes a parameter in all lists. */
export const changeView = (program: Program, name: string, change: Partial<View>): Program => ({
  ...program,
  lists: program.lists.map((list) => ({
    ...list,
    buckets: list.buckets.map((bucket) => ({
      ...bucket,
      views: bucket.views.map((view) => (view.name === name ? { ...view, ...change } : view)),
    })),
  })),
});

function renumbered(items: readonly Item[]): readonly Item[] {
  const numbers = new Map<number, number>();
  items.forEach((item, index) => {
    if (!numbers.has(item.id)) numbers.set(item.id, index + 1);
  });
  return items.map((item, index) => ({
    ...item,
    id: index + 1,
    needs: item.needs.flatMap((need) => {
      const number = numbers.get(need);
      return number !== undefined && number <= index ? [number] : [];
    }),
  }));
}
