import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { trainProgram } from '../index.ts';
import { programOf, smallJob } from '../parity/layouts.fixture.ts';
import { LOCK_FILE, lockFolder } from './lock.ts';

const root = mkdtempSync(join(tmpdir(), 'meshwright-lock-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const folderOf = (name: string): string => join(root, name);

test('one run at a time has a folder', () => {
  const folder = folderOf('taken');
  const release = lockFolder(folder);
  expect(() => lockFolder(folder)).toThrow(/FOLDER_IN_USE.*process \d+ writes its checkpoints/);
  release();
  lockFolder(folder)();
  expect(existsSync(join(folder, LOCK_FILE))).toBe(false);
});

test('a process that was killed holds nothing', () => {
  const folder = folderOf('killed');
  lockFolder(folder)();
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  const leave = (holder: object): void => writeFileSync(join(folder, LOCK_FILE), JSON.stringify(holder));
  leave({ process: pid, host: hostname(), began: '1' });
  lockFolder(folder)();
  // Its number belongs to another process by now: this one, which began at another time.
  leave({ process: process.pid, host: hostname(), began: 'long ago' });
  lockFolder(folder)();
  writeFileSync(join(folder, LOCK_FILE), '{"process":');
  lockFolder(folder)();
});

test('a process of another machine counts as running, and the message says what to do', () => {
  const folder = folderOf('elsewhere');
  lockFolder(folder)();
  writeFileSync(join(folder, LOCK_FILE), JSON.stringify({ process: 1, host: 'another', began: '' }));
  expect(() => lockFolder(folder)).toThrow(/on another .*remove run\.lock/);
});

test('a run has its folder from its begin to its end', async () => {
  const folder = folderOf('run');
  const program = programOf(smallJob('gpt2'));
  const during: boolean[] = [];
  const options = { steps: 2, inline: true, checkpoints: { folder, every: 1 } } as const;
  await trainProgram(program, { ...options, onStep: () => during.push(existsSync(join(folder, LOCK_FILE))) });
  expect(during).toEqual([true, true]);
  expect(existsSync(join(folder, LOCK_FILE))).toBe(false);
  const release = lockFolder(folder);
  await expect(trainProgram(program, options)).rejects.toThrow(/FOLDER_IN_USE/);
  release();
});
