import { expect, test } from 'vitest';
import { compileProgram } from '../../compile/index.ts';
import { toyJob, toyLayout } from '../../compile/toy.fixture.ts';
import type { Item, ListOperation, Program } from '../types.ts';
import { verifyProgram } from './index.ts';

const program = compileProgram(toyJob(), toyLayout({ offload: 'optimizer' }));

/** The program with other operations in place of some; none: it is left out. */
function changed(change: (item: ListOperation) => ListOperation | undefined): Program {
  const lists = program.lists.map((list) => ({
    ...list,
    items: list.items
      .flatMap((item): readonly Item[] => (item.kind === 'call' ? [item] : [change(item) ?? []].flat()))
      .map((item, index) => ({ ...item, id: index + 1, needs: [] })),
  }));
  return { ...program, lists };
}

const codesOf = (each: Program): readonly string[] => [...new Set(verifyProgram(each).map(({ code }) => code))];

test('state in host memory is in order as it is compiled', () => {
  expect(verifyProgram(program)).toEqual([]);
});

test.each([
  ['copy-out', 'GRADIENT_MISSING'],
  ['copy-in', 'OPTIMIZER_INCOMPLETE'],
])('a %s that is left out is refused', (rule, code) => {
  expect(codesOf(changed((item) => (item.operation.why.rule === rule ? undefined : item)))).toContain(code);
});

test('weights that the host has not updated are not copied', () => {
  const twice = changed((item) => item);
  const lists = twice.lists.map((list) => {
    const [copy] = list.items.filter((item) => item.kind === 'operation' && item.operation.why.rule === 'copy-in');
    return { ...list, items: [...list.items, ...(copy ? [{ ...copy, id: list.items.length + 1 }] : [])] };
  });
  expect(codesOf({ ...twice, lists })).toContain('OPTIMIZER_INCOMPLETE');
});

test('an update on the device of state in host memory is refused', () => {
  const onDevice = changed((item) =>
    item.operation.lane === 'host.update'
      ? { ...item, operation: { ...item.operation, lane: 'compute' as const } }
      : item,
  );
  expect(codesOf(onDevice)).toContain('PLACE_WRONG');
});
