/** @file Files that a user names: read with the reason when they cannot be read. */
import { dirname, resolve } from 'node:path';
import { InputError, issue, quote } from '@meshwright/core/errors';
import type { LoadFile } from '@meshwright/core/io';
import type { Host } from '../host.ts';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EISDIR: 'is a folder',
  EACCES: 'may not be read by this user',
  EPERM: 'may not be read by this user',
  ENOTDIR: 'does not exist',
};

/** The text of a file named on the command line. Throws FILE_NOT_FOUND with the reason. */
export function readNamed(path: string, host: Host): string {
  try {
    return host.read(path);
  } catch (error) {
    throw new InputError([
      issue('FILE_NOT_FOUND', '', `${quote(path)} ${reasonOf(error, 'cannot be read')}.`, 'Check the path.'),
    ]);
  }
}

/** The bytes of a file named on the command line. Throws FILE_NOT_FOUND with the reason. */
export function bytesNamed(path: string, host: Host): Uint8Array {
  try {
    return host.bytes(path);
  } catch (error) {
    const why = reasonOf(error, 'cannot be read');
    throw new InputError([issue('FILE_NOT_FOUND', '', `${quote(path)} ${why}.`, 'Check the path.')]);
  }
}

/** Writes a file named on the command line. Throws FILE_NOT_FOUND with the reason. */
export function saveNamed(path: string, text: string, host: Host): void {
  try {
    host.save(path, text);
  } catch (error) {
    const why = reasonOf(error, 'cannot be written').replace('read', 'written');
    throw new InputError([issue('FILE_NOT_FOUND', '', `${quote(path)} ${why}.`, 'Check the path.')]);
  }
}

/** Refuses to write over what is there. Throws FILE_EXISTS with all of it. */
export function refuseExisting(paths: readonly string[], host: Host): void {
  const there = paths.filter((path) => host.exists(path));
  const more = there.length > 1 ? ` So do ${there.length - 1} more.` : '';
  const [first] = there;
  if (first === undefined) return;
  throw new InputError([issue('FILE_EXISTS', '', `${quote(first)} exists.${more}`, 'Name another, or use --force.')]);
}

const writeReasons: Readonly<Record<string, string>> = {
  ENOENT: 'lies in a folder that does not exist',
  ENOTDIR: 'lies in a folder that does not exist',
  ENOSPC: 'does not fit on its disk',
};

/** Writes a file named on the command line piece by piece; returns its bytes. Throws FILE_NOT_WRITTEN with the reason. */
export async function saveChunksNamed(
  path: string,
  chunks: Iterable<Uint8Array>,
  gzip: boolean,
  host: Host,
): Promise<number> {
  try {
    return await host.saveChunks(path, chunks, gzip);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    const why = writeReasons[String(error.code)] ?? reasonOf(error, 'cannot be written');
    throw new InputError([
      issue('FILE_NOT_WRITTEN', '', `${quote(path)} ${why.replace('read', 'written')}.`, 'Check the path.'),
    ]);
  }
}

/** How a job's own files are found: relative to the file that names them. What cannot be read comes back with the reason. */
export const fileLoader =
  (host: Host): LoadFile =>
  (path, from) => {
    try {
      return host.read(resolve(from === '-' ? '.' : dirname(from), path));
    } catch (error) {
      return { unreadable: reasonOf(error, 'cannot be read') };
    }
  };

function reasonOf(error: unknown, otherwise: string): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return reasons[code] ?? otherwise;
}
