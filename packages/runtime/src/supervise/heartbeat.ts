/** @file The last completed step, in a file that outlives the process that writes it. The file has its size before the run
 * begins, so that a beat needs no room on the disk.
 */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const WIDTH = 15;
const textOf = (step: number): string => `${String(step).padStart(WIDTH, '0')}\n`;

/** Makes a heartbeat file that says `step`; returns its path. */
export function createHeartbeat(step: number): string {
  const path = join(mkdtempSync(join(tmpdir(), 'meshwright-run-')), 'heartbeat');
  writeFileSync(path, textOf(step));
  return path;
}

/** Writes beats into the file at `path`. */
export function openHeartbeat(path: string): { readonly beat: (step: number) => void; readonly close: () => void } {
  const file = openSync(path, 'r+');
  return { beat: (step) => void writeSync(file, textOf(step), 0), close: () => closeSync(file) };
}

/** The last step that was written. */
export const lastBeat = (path: string): number => Number(readFileSync(path, 'utf8'));

/** Removes the file and its folder. */
export const removeHeartbeat = (path: string): void => rmSync(dirname(path), { recursive: true, force: true });
