import { describe, expect, it } from 'vitest';
import { checkFile } from '../../tools/check-sizes.mjs';

const path = 'packages/core/src/mesh/index.ts';
const long = (lines: number): string => 'export {};\n'.repeat(lines);
const errorsOf = (text: string, at = path): readonly string[] => checkFile(at, text).errors;

describe('the check of sizes and words', () => {
  it('warns from 251 lines and refuses 401, tests excepted', () => {
    expect(checkFile(path, long(250))).toEqual({ errors: [], warnings: [] });
    expect(checkFile(path, long(251)).warnings).toHaveLength(1);
    expect(errorsOf(long(400))).toEqual([]);
    expect(errorsOf(long(401))).toEqual([`${path}: 401 lines, at most 400`]);
    expect(errorsOf(long(401), 'packages/core/src/mesh/index.test.ts')).toEqual([]);
  });

  it('refuses a function of 61 lines and names it', () => {
    const body = (lines: number): string => `const long = () => {\n${'  f();\n'.repeat(lines - 2)}};\n`;
    expect(errorsOf(body(60))).toEqual([]);
    expect(errorsOf(body(61))).toEqual([`${path}:1: long has 61 lines, at most 60`]);
  });

  it('refuses names that say nothing', () => {
    expect(errorsOf('', 'packages/core/src/mesh/utils.ts')).toHaveLength(1);
  });

  it('refuses leftovers', () => {
    expect(errorsOf(`// ${'TO'}${'DO'} later\n`)).toHaveLength(1);
    expect(errorsOf(`const x = y as ${'any'};\n`)).toHaveLength(1);
    expect(errorsOf(`it${'.only'}('x', f);\n`, 'test/e2e/a.test.ts')).toHaveLength(1);
    expect(errorsOf(`see /${'home'}/me\n`, 'docs/a.md')).toHaveLength(1);
    expect(errorsOf('// a \u2014 b\n')).toHaveLength(1);
  });

  it('refuses a clock or dice in core only', () => {
    expect(errorsOf('const now = Date.now();\n')).toHaveLength(1);
    expect(errorsOf('const now = Date.now();\n', 'packages/cli/src/main.ts')).toEqual([]);
    expect(errorsOf('const now = Date.now();\n', 'packages/core/src/mesh/index.test.ts')).toEqual([]);
  });
});
