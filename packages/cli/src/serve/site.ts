/** @file The files of the studio: read once, looked up by their name, so that no path of a request ever reaches the disk. */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

/** One file with its type. */
export interface SiteFile {
  readonly body: Buffer;
  readonly type: string;
  /** Its name changes with its contents, so that it may be kept. */
  readonly lasting: boolean;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
};

/** All files below `folder` by the path of their address; undefined when the studio has not been built. */
export function readSite(folder: string): ReadonlyMap<string, SiteFile> | undefined {
  try {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const site = new Map<string, SiteFile>();
    for (const entry of files) {
      const type = types[extname(entry.name)];
      if (type === undefined) continue;
      const path = join(entry.parentPath, entry.name);
      const address = path.slice(folder.length).replaceAll('\\', '/').replace(/^\/*/, '/');
      site.set(address, { body: readFileSync(path), type, lasting: address.startsWith('/assets/') });
    }
    return site.has('/index.html') ? site : undefined;
  } catch {
    return undefined;
  }
}
