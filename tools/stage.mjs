/** @file Copies each package as it is published: built files only, no tests, and without the export condition `source`,
 * which leads to files that are not shipped. What is checked, packed and published is this copy.
 *
 *   node tools/stage.mjs FOLDER     writes FOLDER/core, FOLDER/cli, ... */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './ready.mjs';

const neverShipped = /\.(test|test-d|fixture)\.[a-z.]+$|\.tsbuildinfo$/;
const compiled = /\.(js|d\.ts)$/;
const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** A manifest without what only this repository needs. */
export function publishedManifest({ devDependencies, scripts, ...manifest }) {
  const strip = ({ source, ...target }) => target;
  const exports = Object.entries(manifest.exports).map(([subpath, target]) => [subpath, strip(target)]);
  return { ...manifest, exports: { ...Object.fromEntries(exports), './package.json': './package.json' } };
}

/** False for tests, and for output whose source is gone: the compiler does not clean up after a renamed file. */
function isShipped(path, from) {
  if (neverShipped.test(path)) return false;
  const dist = join(from, 'dist');
  // The built studio has files of its own making.
  if (!compiled.test(path) || !path.startsWith(dist) || path.startsWith(join(dist, 'site'))) return true;
  const source = join(from, 'src', path.slice(dist.length)).replace(compiled, '');
  return existsSync(`${source}.ts`) || existsSync(`${source}.tsx`);
}

/** Stages every package that is not private below `folder` (emptied first); returns their folders, in the order of the
 * workspaces. */
export function stagePackages(folder) {
  rmSync(folder, { recursive: true, force: true });
  const staged = [];
  for (const workspace of readJson(join(root, 'package.json')).workspaces) {
    const from = join(root, workspace);
    const manifest = readJson(join(from, 'package.json'));
    if (manifest.private) continue;
    const to = join(folder, basename(workspace));
    mkdirSync(to, { recursive: true });
    for (const part of ['dist', 'bin', 'README.md']) {
      if (!existsSync(join(from, part))) continue;
      cpSync(join(from, part), join(to, part), { recursive: true, filter: (path) => isShipped(path, from) });
    }
    cpSync(join(root, 'LICENSE'), join(to, 'LICENSE'));
    writeFileSync(join(to, 'package.json'), `${JSON.stringify(publishedManifest(manifest), null, 2)}\n`);
    staged.push(to);
  }
  return staged;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const target = process.argv[2];
  if (!target) {
    console.error('usage: node tools/stage.mjs FOLDER');
    process.exit(2);
  }
  for (const each of stagePackages(target)) console.log(each);
}
