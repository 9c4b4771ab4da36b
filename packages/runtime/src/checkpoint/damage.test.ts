import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InputError } from '@meshwright/core/errors';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkpointPath, loadCheckpoint, readCheckpoint, type TrainingState, trainProgram } from '../index.ts';
import { programOf, smallJob } from '../parity/layouts.fixture.ts';
import { type Files, mutate } from './mutations.fixture.ts';

/** All of them by `npm run test:long`, a tenth otherwise. */
const MUTATIONS = process.env['MESHWRIGHT_LONG'] ? 2000 : 200;

const scratch = mkdtempSync(join(tmpdir(), 'meshwright-damage-'));
afterAll(() => rmSync(scratch, { recursive: true }));

let files: Files = {};
let sound: TrainingState;
beforeAll(async () => {
  const program = programOf(smallJob('gpt2', { optimizer: 'sgd' }), { tensor: 2, data: 2, sharding: 1 });
  const folder = join(scratch, 'sound');
  await trainProgram(program, { steps: 1, inline: true, checkpoints: { folder, every: 1 } });
  const path = checkpointPath(folder, 1);
  files = Object.fromEntries(readdirSync(path).map((name) => [name, new Uint8Array(readFileSync(join(path, name)))]));
  sound = readCheckpoint(path);
});

function write(changed: Files): string {
  const path = join(scratch, 'step-00000001');
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path);
  for (const [name, bytes] of Object.entries(changed)) writeFileSync(join(path, name), bytes);
  return path;
}

/** What is wrong, or what was read. */
function read(path: string): TrainingState | InputError {
  try {
    return readCheckpoint(path);
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
}

test(`${MUTATIONS} damaged or forged checkpoints are refused in words, or hold what the sound one holds`, () => {
  let refused = 0;
  for (let seed = 1; seed <= MUTATIONS; seed++) {
    const found = read(write(mutate(files, seed)));
    if (found instanceof InputError) {
      refused += 1;
      expect(found.issues.map(({ code }) => code)).toContain('CHECKPOINT_DAMAGED');
      expect(found.message.length).toBeLessThan(2000);
      continue;
    }
    for (const [name, { shape, states }] of Object.entries(found.tensors)) {
      const elements = shape.reduce((product, size) => product * size, 1);
      expect(Object.values(states).map(({ length }) => length)).toEqual([elements, elements]);
      expect(states.weights).toEqual(sound.tensors[name]?.states.weights);
    }
  }
  expect(refused).toBeGreaterThan(0.8 * MUTATIONS);
});

test('a file that is missing, a folder or a link is refused', () => {
  const [first = ''] = Object.keys(files).filter((name) => name.endsWith('.weights.safetensors'));
  const { [first]: gone, ...others } = files;
  expect(String(read(write(others)))).toMatch(/CHECKPOINT_DAMAGED {2}step-00000001\/rank-0000\.weights.*not there/);
  const linked = write(others);
  symlinkSync('/dev/zero', join(linked, first));
  expect(String(read(linked))).toMatch(/it is a link/);
  const folder = write(others);
  mkdirSync(join(folder, first));
  expect(String(read(folder))).toMatch(/it is no file/);
});

test('no checkpoint, or none of the step, says which there are', () => {
  expect(() => loadCheckpoint(join(scratch, 'nowhere'))).toThrow(/CHECKPOINT_MISSING/);
  expect(() => loadCheckpoint(join(scratch, 'sound'), 7)).toThrow(/no complete checkpoint of step 7\. Use step 1\./);
});
