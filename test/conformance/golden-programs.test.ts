/** @file The programs of the toy layouts against reviewed files. What differs is written beside as `*.actual.txt`; after a
 * review, `UPDATE_GOLDEN=1 npx vitest run test/conformance/golden-programs.test.ts` takes it over.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileProgram } from '@meshwright/core/compile';
import { diffPrograms, parseProgram, printProgram, programFromJson, programToJson } from '@meshwright/core/program';
import { describe, expect, it } from 'vitest';
import { toyLayouts } from './toy-layouts.ts';

const folder = fileURLToPath(new URL('../golden/programs/', import.meta.url));
const update = process.env['UPDATE_GOLDEN'] === '1';

describe('golden programs', () => {
  it.each(toyLayouts)('$name', ({ name, job, layout }) => {
    const program = compileProgram(job, layout);
    const text = printProgram(program);
    const path = join(folder, `${name}.txt`);
    const actual = join(folder, `${name}.actual.txt`);
    rmSync(actual, { force: true });
    if (update) writeFileSync(path, text);
    const golden = existsSync(path) ? readFileSync(path, 'utf8') : '';
    if (golden === text) return;
    writeFileSync(actual, text);
    const before = parseProgram(golden).program;
    const difference = before ? diffPrograms(before, program).text : '';
    expect.fail(`test/golden/programs/${name}.txt differs from ${name}.actual.txt.\n${difference}`);
  });

  it('are all there is in the folder', () => {
    const files = readdirSync(folder).filter((file) => !file.endsWith('.actual.txt'));
    expect(files.sort()).toEqual(toyLayouts.map(({ name }) => `${name}.txt`).sort());
  });

  it.each(toyLayouts)('$name goes through text and JSON and back', ({ job, layout }) => {
    const program = compileProgram(job, layout);
    const text = printProgram(program);
    const parsed = parseProgram(text);
    expect(parsed.issues).toEqual([]);
    expect(parsed.program).toEqual(program);
    expect(parsed.program && printProgram(parsed.program)).toBe(text);
    const json: unknown = JSON.parse(JSON.stringify(programToJson(program)));
    expect(programFromJson(json)).toEqual({ program, issues: [] });
  });
});
