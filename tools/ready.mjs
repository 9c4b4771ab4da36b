/** @file Makes a fresh clone ready: packages installed as the lock says, and everything built. Uses nothing but Node, so
 * that it can run before anything is installed. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Runs a program in the repository's root. Output goes to stderr unless `options.stdio` says otherwise. */
export function run(program, args, options = {}) {
  return spawnSync(program, args, { cwd: root, stdio: ['ignore', 2, 2], ...options });
}

/** Runs the JavaScript entry of an installed package with this Node. */
export const runTool = (entry, args, options) => run(process.execPath, [join('node_modules', entry), ...args], options);

/** True when the installed packages are those of package-lock.json. Versions are compared, not dates: a fresh checkout
 * makes every file new. Optional packages may be missing (they are for other platforms). */
export function isInstalled() {
  const installed = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installed)) return false;
  const packagesOf = (path) => JSON.parse(readFileSync(path, 'utf8')).packages;
  const present = packagesOf(installed);
  return Object.entries(packagesOf(join(root, 'package-lock.json')))
    .filter(([path]) => path.includes('node_modules/'))
    .every(([path, { version, optional }]) => (present[path] ? present[path].version === version : optional));
}

/** Installs with `npm ci` when it is needed; returns whether the packages are there. */
export function install() {
  if (isInstalled()) return true;
  console.error('Installing packages (npm ci).');
  return run('npm', ['ci', '--no-audit', '--no-fund']).status === 0;
}

/** Compiles all packages, and the studio into static files when its sources are newer than those; returns whether that went
 * without error. */
export function build() {
  return runTool('typescript/bin/tsc', ['-b']).status === 0 && buildStudio();
}

/** The static build of the studio. What it was built from is kept beside it as a hash, so that it is built once. */
function buildStudio() {
  const folder = join(root, 'packages', 'studio');
  const stamp = join(folder, 'dist', 'site', '.sources');
  const sources = sourcesHash(['core', 'figures', 'studio'].map((name) => join(root, 'packages', name)));
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === sources) return true;
  const entry = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  const built = run(process.execPath, [entry, 'build', '--logLevel', 'warn'], { cwd: folder }).status === 0;
  if (built) writeFileSync(stamp, sources);
  return built;
}

/** One hash over the shipped sources of some packages. */
function sourcesHash(folders) {
  const hash = createHash('sha256');
  for (const folder of folders) {
    const files = readdirSync(folder, { recursive: true }).filter(
      (path) =>
        /^(src|index\.html|vite\.config)/.test(path) &&
        /\.(tsx?|css|html)$/.test(path) &&
        !/\.(test|fixture)\./.test(path),
    );
    for (const path of files.sort()) hash.update(path).update(readFileSync(join(folder, path)));
  }
  return hash.digest('hex');
}

/** Installs and builds, or ends the process with the reason on stderr. */
export function makeReady() {
  if (!install()) stop('npm ci failed; its messages are above.');
  if (!build()) stop('The build failed; the messages of the compiler are above.');
}

function stop(reason) {
  console.error(reason);
  process.exit(1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) makeReady();
