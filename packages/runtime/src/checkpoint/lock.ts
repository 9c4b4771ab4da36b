/** @file One run at a time writes into a folder of checkpoints: a file that names its process stands there while it does. A
 * process that was killed leaves the file; the next run sees that nobody is behind it and takes its place.
 */
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { InputError, issue, quote } from '@meshwright/core/errors';

export const LOCK_FILE = 'run.lock';

/** Who writes. */
interface Holder {
  readonly process: number;
  readonly host: string;
  /** When the process began, as its system says: another one may have its number by now. */
  readonly began: string;
}

/** Takes the folder; gives what gives it back. Throws FOLDER_IN_USE while another run has it, FILE_NOT_WRITTEN with what the
 * system says where nothing can be written. */
export function lockFolder(folder: string): () => void {
  makeFolder(folder);
  const path = join(folder, LOCK_FILE);
  const own: Holder = { process: process.pid, host: hostname(), began: beginOf(process.pid) };
  while (!create(folder, path, JSON.stringify(own))) {
    const holder = readHolder(path);
    if (holder !== undefined && isThere(holder)) throw inUse(folder, holder);
    setAside(path);
  }
  return () => rmSync(path, { force: true });
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (cause) {
    throw notWritten(folder, cause);
  }
}

function notWritten(folder: string, cause: unknown): InputError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `${quote(folder)} cannot hold checkpoints: ${reason}.`;
  return new InputError([issue('FILE_NOT_WRITTEN', '--checkpoints', message, 'Check the path and its disk.')]);
}

function inUse(folder: string, { process: holder, host }: Holder): InputError {
  const where = host === hostname() ? '' : ` on ${host}`;
  const message = `process ${holder}${where} writes its checkpoints into ${quote(folder)}.`;
  const elsewhere = where === '' ? '' : ` If no such process runs there, remove ${LOCK_FILE}.`;
  const hint = `Wait for it, or name another folder with --checkpoints.${elsewhere}`;
  return new InputError([issue('FOLDER_IN_USE', '--checkpoints', message, hint, { process: holder, host })]);
}

/** Whether the file could be made: one of several processes makes it. */
function create(folder: string, path: string, text: string): boolean {
  try {
    const file = openSync(path, 'wx');
    writeSync(file, text);
    closeSync(file);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw notWritten(folder, error);
  }
}

/** Of several processes that find the same dead one, one takes its file away. */
function setAside(path: string): void {
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
    rmSync(aside, { force: true });
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

/** Undefined for a file that nobody finished writing. */
function readHolder(path: string): Holder | undefined {
  try {
    const { process: holder, host, began } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Holder>;
    return Number.isSafeInteger(holder) && typeof host === 'string' && typeof began === 'string'
      ? { process: Number(holder), host, began }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Nobody can ask another machine, so that its process counts as running. */
function isThere({ process: holder, host, began }: Holder): boolean {
  if (host !== hostname()) return true;
  try {
    process.kill(holder, 0);
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return false;
  }
  return began === beginOf(holder);
}

/** Clock ticks at which a process began; empty where the system has no such file, and numbers alone must do. */
function beginOf(holder: number): string {
  try {
    // Behind the name in brackets, which may hold spaces.
    const fields = readFileSync(`/proc/${holder}/stat`, 'utf8').split(') ').at(-1) ?? '';
    return fields.split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
