import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderIssue } from '../../errors/index.ts';
import { expandList } from '../expand.ts';
import { toyProgram } from '../fixtures/toy.fixture.ts';
import type { Program } from '../types.ts';
import { programFromJson, programToJson } from './index.ts';
import { programShape } from './program-shape.ts';
import { type Finding, readShape } from './read-shape.ts';
import { shapedProgram } from './shape.fixture.ts';

const json = (): unknown => JSON.parse(JSON.stringify(programToJson(toyProgram())));

type Path = readonly (string | number)[];

/** The toy program as JSON with one value replaced, or removed when it is undefined. */
function withValue(path: Path, replacement: unknown): unknown {
  const root = json();
  const parent = path.slice(0, -1).reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], root);
  const key = path[path.length - 1] ?? '';
  if (replacement === undefined) delete (parent as Record<string, unknown>)[key];
  else (parent as Record<string, unknown>)[key] = replacement;
  return root;
}

const said = (path: Path, replacement: unknown): string =>
  programFromJson(withValue(path, replacement)).issues.map(renderIssue).join('\n');

describe('programs as JSON', () => {
  it('come back as they were', () => {
    expect(programFromJson(json())).toEqual({ program: toyProgram(), issues: [] });
  });

  it('have keys in the order of the schema, however they were built', () => {
    const backwards = Object.fromEntries(Object.entries(toyProgram()).reverse()) as unknown as Program;
    expect(JSON.stringify(programToJson(backwards))).toBe(JSON.stringify(programToJson(toyProgram())));
    expect(Object.keys(programToJson(backwards))[0]).toBe('schema');
  });

  it('are not written when they break the schema', () => {
    expect(() => programToJson({ ...toyProgram(), layers: -1 })).toThrow(
      'internal: a program breaks its schema: layers',
    );
  });

  it('keep every key that the types know', () => {
    fc.assert(
      fc.property(shapedProgram, (program) => {
        const findings: Finding[] = [];
        expect(readShape(program, programShape, [], findings)).toEqual(program);
        expect(findings).toEqual([]);
      }),
    );
  });
});

describe('issues of a program in JSON', () => {
  it('name the place, the value and the nearest name', () => {
    expect(said(['templates', 2, 'operations', 2, 'kernel'], 'gem')).toBe(
      'VALUE_UNKNOWN  templates[2].operations[2].kernel: gem is not a known kernel. Did you mean gemm?',
    );
    expect(said(['buffers', 0, 'rol'], 'x')).toContain('buffers[0]: rol is not a key of a buffer. Did you mean role?');
    expect(said(['mesh'], undefined)).toBe('KEY_MISSING  mesh is missing. Axes of the mesh.');
    expect(said(['lists', 0, 'items', 2, 'kind'], 'cal')).toContain('"cal" is not a kind of item. Did you mean call?');
  });

  it('refuse values of another type or out of range', () => {
    expect(said(['layers'], '2')).toBe('VALUE_WRONG_TYPE  layers: "2" is not a number.');
    expect(said(['layers'], 2.5)).toContain('2.5 is not a whole number from 0 to 100000.');
    expect(said(['lossScale'], 0)).toContain('0 is not a number above 0 to 1.');
    expect(said(['buffers', 0, 'dims', 0, 'cut'], [])).toContain('leave it out when it is empty');
    expect(said(['schema'], 'meshwright.program/9')).toContain('"meshwright.program/9" is not "meshwright.program/1".');
  });

  it('are all reported at once', () => {
    const program = { ...(json() as object), layers: -1, optimizer: 'adam', name: '' };
    expect(programFromJson(program).issues.map((each) => each.path)).toEqual(['name', 'layers', 'optimizer']);
  });

  it('follow names and numbers', () => {
    expect(said(['lists', 1, 'pipeline'], 0)).toContain('Two lists stand at pipeline coordinate 0.');
    expect(said(['groups', 0, 'coordinates', 1], 0)).toContain('Coordinate 0 is in the group twice.');
    expect(said(['lists', 0, 'name'], 'P1')).toContain('There are two of list P1.');
    expect(said(['lists', 0, 'buckets', 0, 'views', 0, 'block'], 9)).toContain('There is no block 9');
    expect(said(['lists', 0, 'items', 2, 'first'], 1)).toContain('An embed template runs for block -1.');
    expect(said(['lists', 0, 'items', 4, 'operation', 'reads', 0], 'tokens.summed')).toBe('');
    expect(said(['lists', 0, 'items', 4, 'operation', 'reads', 0], 'q.summed')).toContain('q is a scalar');
    expect(said(['lists', 0, 'buffers', 0, 'name'], 'x')).toContain('is declared for the program and for list P0');
    expect(said(['lists', 0, 'units'], [{ name: 'E', buckets: ['tie'] }])).toContain('Did you mean tied?');
    expect(said(['groups', 0, 'name'], 'data')).toContain('data is an axis and a group.');
  });

  it('never throw, and what passes can be written out', () => {
    const leaves = leavesOf(json(), []);
    const anything = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom('x', 'dx1', 'G.body', 'W.body', 'P1', 'B.layer', 'none', 'x9[1]', -1, 0, 1, 2, 3, 1e9),
    );
    fc.assert(
      fc.property(fc.constantFrom(...leaves), anything, (path, value) => {
        const { program } = programFromJson(withValue(path, value));
        for (const list of program?.lists ?? []) expect(() => expandList(program as Program, list)).not.toThrow();
      }),
      { numRuns: 500 },
    );
    fc.assert(fc.property(fc.jsonValue(), (value) => void programFromJson(value)));
  });
});

function leavesOf(value: unknown, path: Path): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, each]) =>
    leavesOf(each, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}
