/** @file `npm run test:long`: the tests that draw their cases from a seed, with all of the cases instead of a tenth. */
import { root, runTool } from './ready.mjs';

const folders = ['packages/runtime/src/checkpoint', 'packages/runtime/src/supervise'];
const env = { ...process.env, MESHWRIGHT_LONG: '1', MESHWRIGHT_BUILT: '1' };
process.exitCode =
  runTool('vitest/vitest.mjs', ['run', '--root', root, '--maxWorkers=1', ...folders], { env }).status ?? 1;
