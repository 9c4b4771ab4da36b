/** @file Long files, written as they are made. */
import { createWriteStream, existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/** Fast rather than small: traces shrink to an eighth at any level. */
const GZIP_LEVEL = 4;

/** Writes `chunks` to `path`; its folder is made when it is absent, not the folder of that. Returns bytes written. What fails leaves no file. */
export async function saveChunks(path: string, chunks: Iterable<Uint8Array>, gzip: boolean): Promise<number> {
  const folder = dirname(path);
  if (!existsSync(folder)) mkdirSync(folder);
  const file = createWriteStream(path);
  try {
    if (gzip) await pipeline(Readable.from(chunks), createGzip({ level: GZIP_LEVEL }), file);
    else await pipeline(Readable.from(chunks), file);
  } catch (error) {
    if (file.bytesWritten > 0 || !file.pending) rmSync(path, { force: true });
    throw error;
  }
  return file.bytesWritten;
}
