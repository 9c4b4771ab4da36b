import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cruise, type ICruiseOptions, type ICruiseResult } from 'dependency-cruiser';
import { afterEach, describe, expect, it } from 'vitest';
import config from '../../.dependency-cruiser.mjs';
import { allowedImports, coreRooms, floorOf } from '../../tools/floors.mjs';

let folder = '';
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The names of the rules that a small tree of files breaks. */
async function broken(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  folder = mkdtempSync(join(tmpdir(), 'meshwright-floors-'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const { tsConfig: _, ...options } = config.options ?? {};
  const cruiseOptions = { ...options, baseDir: folder, validate: true, ruleSet: { forbidden: config.forbidden } };
  const { output } = await cruise(['packages'], cruiseOptions as ICruiseOptions);
  return [...new Set((output as ICruiseResult).summary.violations.map((each) => each.rule.name))].sort();
}

const plan = { 'packages/core/src/plan/index.ts': 'export const best = 1;\n' };
const nothing = 'export const value = 1;\n';

describe('the table of floors', () => {
  it('never imports upward and has no room twice', () => {
    expect(new Set(coreRooms.map((each) => each.room)).size).toBe(coreRooms.length);
    for (const { room, floor } of coreRooms) {
      for (const each of allowedImports(room)) expect(floorOf(each), `${room} -> ${each}`).toBeLessThanOrEqual(floor);
    }
  });

  it('has no cycle', () => {
    const visit = (room: string, path: readonly string[]): void => {
      expect(path, `${[...path, room].join(' -> ')}`).not.toContain(room);
      for (const each of allowedImports(room)) visit(each, [...path, room]);
    };
    for (const { room } of coreRooms) visit(room, []);
  });
});

describe('the dependency rules', () => {
  it('pass a downward import', async () => {
    const user = "import { best } from '../plan/index.ts';\nexport const value = best;\n";
    expect(await broken({ ...plan, 'packages/core/src/explain/index.ts': user })).toEqual([]);
  });

  it('refuse an upward import, of a type too', async () => {
    const user = "import type { best } from '../plan/index.ts';\nexport type Value = typeof best;\n";
    expect(await broken({ ...plan, 'packages/core/src/mesh/index.ts': user })).toEqual(['core-mesh-imports']);
  });

  it('refuse node in core', async () => {
    const user = "import { readFileSync } from 'node:fs';\nexport const value = readFileSync;\n";
    expect(await broken({ 'packages/core/src/io/index.ts': user })).toEqual(['core-anywhere']);
  });

  it('refuse a circle inside a room', async () => {
    const one = "import { two } from './two.ts';\nexport const one = two;\n";
    const two = "import { one } from './one.ts';\nexport const two = one;\n";
    const files = { 'packages/core/src/mesh/one.ts': one, 'packages/core/src/mesh/two.ts': two };
    expect(await broken(files)).toEqual(['no-cycles']);
  });

  it('refuse to enter a room past its index', async () => {
    const user = "import { value } from '../mesh/inner.ts';\nexport const used = value;\n";
    const files = { 'packages/core/src/mesh/inner.ts': nothing, 'packages/core/src/program/index.ts': user };
    expect(await broken(files)).toEqual(['rooms-by-the-door']);
  });

  it('keep the runtime away from layouts and plans', async () => {
    const user = "import { best } from '../../core/src/plan/index.ts';\nexport const value = best;\n";
    expect(await broken({ ...plan, 'packages/runtime/src/index.ts': user })).toEqual(['runtime-imports']);
  });

  it('refuse a folder that is no room', async () => {
    expect(
      await broken({
        'packages/core/src/attic/index.ts': "import './more.ts';\n",
        'packages/core/src/attic/more.ts': nothing,
      }),
    ).toContain('from-unknown-room');
  });

  it('let figures use the types of a plan but not its functions', async () => {
    const types = "import type { best } from '../../core/src/plan/index.ts';\nexport type Value = typeof best;\n";
    expect(await broken({ ...plan, 'packages/figures/src/a.ts': types })).toEqual([]);
    const values = "import { best } from '../../core/src/plan/index.ts';\nexport const value = best;\n";
    expect(await broken({ ...plan, 'packages/figures/src/a.ts': values })).toEqual(['figures-imports']);
  });
});
