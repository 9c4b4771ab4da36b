/** @file Every example is run. A job file says how in a comment, one command a line:
 *
 *   # Run: meshwright plan examples/x.yaml
 *   # Run: meshwright show examples/y.yaml --layout tp=3    (exit 2)
 *
 * A program (`.mjs`) is run as it is. The exit code must be 0 or the one in parentheses. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from './ready.mjs';

const command = /^# Run: meshwright (.+?)(?:\s+\(exit (\d+)\))?$/gm;
const folder = join(root, 'examples');

/** The runs of one example: arguments for Node and the exit code that is right. */
function runsOf(name) {
  const path = `examples/${name}`;
  if (name.endsWith('.mjs')) return [{ args: [path], exit: 0 }];
  const found = [...readFileSync(join(folder, name), 'utf8').matchAll(command)];
  return found.map(([, words, exit = '0']) => ({
    args: ['packages/cli/bin/meshwright.js', ...words.split(/\s+/)],
    exit: Number(exit),
  }));
}

let failed = 0;
let count = 0;
const fail = (message) => {
  failed += 1;
  console.error(message);
};
for (const name of existsSync(folder) ? readdirSync(folder).sort() : []) {
  if (!/\.(ya?ml|mjs)$/.test(name)) continue;
  const runs = runsOf(name);
  if (runs.length === 0) fail(`examples/${name}: no line "# Run: meshwright ..." says how to run it`);
  for (const { args, exit } of runs) {
    count += 1;
    const result = run(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });
    if (result.status === exit) continue;
    fail(
      `examples/${name}: ${args.join(' ')}: exit ${result.status}, expected ${exit}\n${result.stdout}${result.stderr}`,
    );
  }
}
console.error(`${count} example runs, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
