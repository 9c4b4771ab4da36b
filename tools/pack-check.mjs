/** @file Proves that what would be published works: packs every package, installs the archives in an empty folder, and
 * uses them as a stranger would: the command, an import, and a strict type check. Slow (it installs the third-party
 * packages anew), so it belongs to the acceptance checks and not to every `npm test`. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeReady, root } from './ready.mjs';
import { stagePackages } from './stage.mjs';

const unwanted = /(^|\/)(src|test)\/|\.(test|test-d|fixture)\.|\.tsbuildinfo$/;
let passed = 0;
let failed = 0;

function expect(what, condition, detail = '') {
  if (condition) passed += 1;
  else failed += 1;
  console.log(`${condition ? 'ok  ' : 'FAIL'} ${what}${condition || detail === '' ? '' : `\n${detail}`}`);
}

/** Runs a program in `cwd`; answers its exit code and what it wrote. */
function call(cwd, program, args) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  return { status, stdout, output: `${stdout}${stderr}` };
}

function pack(folders, target) {
  return folders.map((folder) => {
    const { status, stdout, output } = call(folder, 'npm', ['pack', '--json', '--pack-destination', target]);
    if (status !== 0) throw new Error(`npm pack failed in ${folder}:\n${output}`);
    const [{ name, filename, files }] = Object.values(JSON.parse(stdout));
    const paths = files.map((each) => each.path);
    const wrong = paths.filter((path) => unwanted.test(path));
    expect(`${name}: ${paths.length} files, no sources and no tests`, wrong.length === 0, wrong.join('\n'));
    expect(`${name}: has its licence`, paths.includes('LICENSE'));
    return { name, archive: join(target, filename) };
  });
}

/** A program that imports every subpath of every package. */
function importsOfAll(folders) {
  const specifiers = folders.flatMap((folder) => {
    const { name, exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const subpaths = Object.keys(exports).filter((each) => each !== './package.json');
    return subpaths.map((each) => name + each.slice(1));
  });
  return specifiers.map((each, index) => `import * as _${index} from '${each}';\n`).join('');
}

function use(folder, staged) {
  const { version } = JSON.parse(readFileSync(join(root, 'packages', 'cli', 'package.json'), 'utf8'));
  const asked = call(folder, 'npx', ['--no-install', 'meshwright', '--version']);
  expect(`npx meshwright --version says ${version}`, asked.stdout.trim() === version, asked.output);

  writeFileSync(join(folder, 'all.mjs'), importsOfAll(staged));
  for (const conditions of [[], ['--conditions=source']]) {
    const imported = call(folder, process.execPath, [...conditions, 'all.mjs']);
    expect(`every subpath can be imported ${conditions.join('')}`.trim(), imported.status === 0, imported.output);
  }

  writeFileSync(join(folder, 'all.ts'), importsOfAll(staged).replace(/import \* as (_\d+)/g, 'export * as $1'));
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const flags = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2023', '--skipLibCheck'];
  const typed = call(folder, process.execPath, [tsc, ...flags, '--customConditions', 'source', 'all.ts']);
  expect('every subpath has types for a strict compiler', typed.status === 0, typed.output);
}

makeReady();
const work = mkdtempSync(join(tmpdir(), 'meshwright-pack-'));
try {
  const staged = stagePackages(join(work, 'staged'));
  const archives = pack(staged, work);
  const empty = join(work, 'empty');
  mkdirSync(empty);
  writeFileSync(join(empty, 'package.json'), '{ "private": true, "type": "module" }\n');
  const paths = archives.map((each) => each.archive);
  const installed = call(empty, 'npm', ['install', '--no-audit', '--no-fund', ...paths]);
  expect('the archives install in an empty folder', installed.status === 0, installed.output);
  if (installed.status === 0) use(empty, staged);
} finally {
  rmSync(work, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
