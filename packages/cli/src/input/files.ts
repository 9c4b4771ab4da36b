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

/** How a job's own files are found: relative to the file that names them. */
export const fileLoader =
  (host: Host): LoadFile =>
  (path, from) => {
    try {
      return host.read(resolve(from === '-' ? '.' : dirname(from), path));
    } catch {
      return undefined;
    }
  };

function reasonOf(error: unknown, otherwise: string): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return reasons[code] ?? otherwise;
}
