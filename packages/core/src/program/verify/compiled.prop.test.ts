import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderIssue } from '../../errors/index.ts';
import { canPlant, faults, plantFault } from '../faults.ts';
import { toyProgram } from '../fixtures/toy.fixture.ts';
import type { Item, Operation, Program } from '../types.ts';
import { faultCodes } from './fault-codes.fixture.ts';
import { verifyProgram } from './index.ts';
import { compiledPrograms } from './layouts.fixture.ts';

const errorsOf = (program: Program): readonly string[] =>
  verifyProgram(program)
    .filter(({ severity }) => severity === 'error')
    .map(renderIssue);

describe('compiled programs', () => {
  it('are sound under every layout', () => {
    fc.assert(
      fc.property(compiledPrograms, ({ program }) => {
        expect(errorsOf(program)).toEqual([]);
      }),
    );
  });

  it('are refused with the code of the fault that is planted', () => {
    fc.assert(
      fc.property(compiledPrograms, fc.constantFrom(...faults), ({ program }, fault) => {
        fc.pre(canPlant(program, fault));
        const codes = verifyProgram(plantFault(program, fault)).map(({ code }) => code);
        expect(codes).toContain(faultCodes[fault]);
      }),
    );
  });

  it('are refused when any operation of any template is left out', () => {
    fc.assert(
      fc.property(compiledPrograms, fc.nat(), ({ program }, pick) => {
        const places = program.templates.flatMap(({ operations }, template) =>
          operations.flatMap(({ why }, at) => (why.rule === 'recompute' ? [] : [[template, at] as const])),
        );
        const [template = 0, at = 0] = places[pick % places.length] ?? [];
        const left = `${program.templates[template]?.name}:${at + 1}`;
        expect(errorsOf(withoutOperation(program, template, at)), left).not.toEqual([]);
      }),
    );
  });

  it('are refused when any gradient is read in place of another, or not added', () => {
    fc.assert(
      fc.property(compiledPrograms, fc.nat(), fc.nat(), ({ program }, pick, other) => {
        const places = program.templates.flatMap(({ direction, operations }, template) =>
          direction === 'backward' ? operations.flatMap((operation, at) => gradientReads(operation, template, at)) : [],
        );
        const [template, at, read] = places[pick % places.length] ?? [0, 0, 0];
        const { operations = [] } = program.templates[template] ?? {};
        const name = operations[at]?.reads[read] ?? '';
        const names = new Set(operations.slice(0, at).flatMap(({ writes }) => writes.map(({ buffer }) => buffer)));
        const others = ['none', 'dy', ...names].filter((each) => each !== name && !each.startsWith('G.'));
        const exchanged = readInPlace(program, template, at, read, others[other % others.length] ?? 'none');
        expect(errorsOf(exchanged), `${name} of ${JSON.stringify(operations[at])}`).not.toEqual([]);
      }),
    );
  });

  it('are refused when any operation that adds or works in place is done twice', () => {
    fc.assert(
      fc.property(compiledPrograms, fc.nat(), ({ program }, pick) => {
        const places = program.templates.flatMap(({ operations }, template) =>
          operations.flatMap((operation, at) => (isRepeatable(operation) ? [] : [[template, at] as const])),
        );
        const [template = 0, at = 0] = places[pick % places.length] ?? [];
        expect(errorsOf(repeatOperation(program, template, at))).not.toEqual([]);
      }),
    );
  });

  it('are refused when any line that adds or works in place stands twice', () => {
    fc.assert(
      fc.property(compiledPrograms, fc.nat(), ({ program }, pick) => {
        const places = program.lists.flatMap(({ items }, list) =>
          items.flatMap((item) =>
            item.kind === 'call' || isRepeatable(item.operation) ? [] : [[list, item.id] as const],
          ),
        );
        const [list = 0, id = 0] = places[pick % places.length] ?? [];
        expect(errorsOf(repeatLine(program, list, id))).not.toEqual([]);
      }),
    );
  });

  it('are refused when any operation of any list is left out', () => {
    fc.assert(
      fc.property(compiledPrograms, fc.nat(), ({ program }, pick) => {
        const places = program.lists.flatMap(({ items }, list) =>
          items.flatMap((item) => (mayLeaveOut(item) ? [] : [[list, item.id] as const])),
        );
        const [list = 0, id = 0] = places[pick % places.length] ?? [];
        expect(errorsOf(withoutLine(program, list, id))).not.toEqual([]);
      }),
    );
  });
});

it('the example program is refused when any of its lines or operations is left out', () => {
  const program = toyProgram();
  for (const [template, { operations }] of program.templates.entries()) {
    for (const at of operations.keys()) expect(errorsOf(withoutOperation(program, template, at))).not.toEqual([]);
  }
  for (const [list, { items }] of program.lists.entries()) {
    for (const { id } of items) expect(errorsOf(withoutLine(program, list, id))).not.toEqual([]);
  }
});

/** Doing it twice leaves the same. */
const isRepeatable = ({ reads, writes }: Operation): boolean =>
  writes.every(({ buffer, accumulate }) => !accumulate && !reads.includes(buffer)) && writes.length > 0;

/** Reads of backward kernels that are gradients of activations. */
const gradientReads = (operation: Operation, template: number, at: number): readonly [number, number, number][] =>
  operation.kind === 'compute' && operation.why.rule !== 'recompute'
    ? operation.reads.flatMap((name, read): readonly [number, number, number][] =>
        /^d(?!ropout)/.test(name) ? [[template, at, read]] : [],
      )
    : [];

function readInPlace(program: Program, template: number, at: number, read: number, name: string): Program {
  const change = (operation: Operation): Operation => ({ ...operation, reads: operation.reads.with(read, name) });
  const templates = program.templates.map((each, index) =>
    index === template
      ? { ...each, operations: each.operations.map((one, place) => (place === at ? change(one) : one)) }
      : each,
  );
  return { ...program, templates };
}

function repeatOperation(program: Program, template: number, at: number): Program {
  const templates = program.templates.map((each, index) =>
    index === template
      ? { ...each, operations: each.operations.flatMap((one, place) => (place === at ? [one, { ...one }] : [one])) }
      : each,
  );
  return { ...program, templates };
}

function repeatLine(program: Program, list: number, id: number): Program {
  const move = (line: number): number => (line > id ? line + 1 : line);
  const repeat = (items: readonly Item[]): readonly Item[] =>
    items
      .map((item) => ({ ...item, id: move(item.id), needs: item.needs.map(move) }))
      .flatMap((item) => (item.id === id ? [item, { ...item, id: id + 1 }] : [item]));
  return {
    ...program,
    lists: program.lists.map((each, index) => (index === list ? { ...each, items: repeat(each.items) } : each)),
  };
}

function withoutOperation(program: Program, template: number, at: number): Program {
  const templates = program.templates.map((each, index) =>
    index === template ? { ...each, operations: each.operations.filter((_, place) => place !== at) } : each,
  );
  return { ...program, templates };
}

function withoutLine(program: Program, list: number, id: number): Program {
  const move = (line: number): number => (line > id ? line - 1 : line);
  const without = (items: readonly Item[]): readonly Item[] =>
    items
      .filter((item) => item.id !== id)
      .map((item) => ({ ...item, id: move(item.id), needs: item.needs.filter((need) => need !== id).map(move) }));
  return {
    ...program,
    lists: program.lists.map((each, index) => (index === list ? { ...each, items: without(each.items) } : each)),
  };
}

/** What computes the same without: forward once more (`recompute` in templates too), and the gather of a unit that no kernel reads (FSDP's hooks). */
const mayLeaveOut = (item: Item): boolean =>
  item.kind === 'call'
    ? item.again === true
    : item.operation.why.rule === 'gather-unit' && item.operation.writes[0]?.buffer.startsWith('W.') === true;
