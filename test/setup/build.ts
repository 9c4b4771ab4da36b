import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Builds the packages once for the tests that load built JavaScript. Type errors are the verdict of the gate's own
 * step; here they are printed and the emitted files are used. */
export default function build(): void {
  if (process.env['MESHWRIGHT_BUILT'] === '1') return;
  const run = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-b', 'packages/cli'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (run.status !== 0) console.error(`tsc -b packages/cli ended with ${run.status}:\n${run.stdout}${run.stderr}`);
  process.env['MESHWRIGHT_BUILT'] = '1';
}
