/** @file The folder that holds the checkpoints of a run: `step-00000020` for each, written as `step-00000020.partial` and
 * renamed when all of it is on the disk. What is not renamed is no checkpoint.
 */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { MANIFEST_FILE, type Manifest, manifestText } from './manifest.ts';
import { writeDurably } from './shards.ts';

const COMPLETE = /^step-(\d{8,15})$/;
const PARTIAL = /^step-\d{8,15}\.partial$/;
const nameOf = (step: number): string => `step-${String(step).padStart(8, '0')}`;

/** The folder of a complete checkpoint. */
export const checkpointPath = (folder: string, step: number): string => join(folder, nameOf(step));

/** Where ranks write before it is complete. */
export const partialPath = (folder: string, step: number): string => join(folder, `${nameOf(step)}.partial`);

/** Steps of the complete checkpoints in a folder, ascending; none when it does not exist. */
export function completeSteps(folder: string): readonly number[] {
  if (!existsSync(folder)) return [];
  const steps = readdirSync(folder).flatMap((name) => {
    const [, digits] = COMPLETE.exec(name) ?? [];
    return digits === undefined ? [] : [Number(digits)];
  });
  return steps.sort((one, other) => one - other);
}

/** Removes what runs that died have left half written. */
export function removePartial(folder: string): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    if (PARTIAL.test(name)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** Makes a checkpoint of files that all ranks have written: the index beside them, then one rename. */
export function completeCheckpoint(folder: string, manifest: Manifest): void {
  const partial = partialPath(folder, manifest.step);
  mkdirSync(partial, { recursive: true });
  writeDurably(join(partial, MANIFEST_FILE), [new TextEncoder().encode(manifestText(manifest))]);
  syncFolder(partial);
  renameSync(partial, checkpointPath(folder, manifest.step));
  syncFolder(folder);
}

/** Removes all complete checkpoints but the last `keep`. */
export function removeOld(folder: string, keep: number): void {
  for (const step of completeSteps(folder).slice(0, -keep)) {
    const path = checkpointPath(folder, step);
    rmSync(join(path, MANIFEST_FILE), { force: true });
    rmSync(path, { recursive: true, force: true });
  }
}

/** The names in a folder reach the disk. Windows has no such call and needs none. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
