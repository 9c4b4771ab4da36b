import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderIssue } from '../../errors/index.ts';
import { toyProgram } from '../fixtures/toy.fixture.ts';
import { shapedProgram } from '../json/shape.fixture.ts';
import { parseProgram, printProgram } from './index.ts';
import { readText } from './parse.ts';

describe('text of programs', () => {
  it('reads back what it prints', () => {
    const text = printProgram(toyProgram());
    const { program, issues } = parseProgram(text);
    expect(issues.map(renderIssue)).toEqual([]);
    expect(program).toEqual(toyProgram());
    expect(printProgram(program ?? toyProgram())).toBe(text);
  });

  it('reads back any value of the shape of a program, whatever its names', () => {
    fc.assert(
      fc.property(shapedProgram, (program) => {
        const { source, state } = readText(printProgram(program), 'program.txt');
        expect(source.issues.map(renderIssue)).toEqual([]);
        expect(state.program).toEqual(program);
      }),
      { numRuns: 300 },
    );
  });

  it('never throws, whatever the text', () => {
    const lines = printProgram(toyProgram()).split('\n');
    const spoilt = fc.array(fc.tuple(fc.nat(lines.length - 1), fc.nat(80), fc.string({ maxLength: 6 })), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(spoilt, (changes) => {
        const changed = [...lines];
        for (const [line, at, text] of changes) {
          const old = changed[line] ?? '';
          changed[line] = old.slice(0, at) + text + old.slice(at + text.length);
        }
        const { program, issues } = parseProgram(changed.join('\n'));
        expect(program === undefined).toBe(issues.length > 0);
        for (const each of issues) expect(each.position).toBeDefined();
      }),
      { numRuns: 300 },
    );
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseProgram(text)));
  });
});
