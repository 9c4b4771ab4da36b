/** @file Tests that are too long for every change: `npm run test:long` reads 110,000 mutated models, jobs and layouts, damages
 * checkpoints in 2,000 ways, breaks runs at 50 instants (a tenth otherwise) and trains the shipped example beside one rank
 * (not otherwise); `npm run test:layouts` trains under 200 drawn layouts (40 otherwise). */
import { root, runTool } from './ready.mjs';

const kinds = {
  long: {
    env: 'MESHWRIGHT_LONG',
    projects: ['unit', 'runtime', 'e2e'],
    paths: ['test/fuzz', 'packages/runtime/src/checkpoint', 'packages/runtime/src/supervise', 'test/e2e/learns'],
  },
  layouts: { env: 'MESHWRIGHT_LAYOUTS', projects: ['runtime'], paths: ['packages/runtime/src/parity/generated'] },
};

const { env, projects, paths } = kinds[process.argv[2] ?? 'long'];
const args = ['run', '--root', root, '--maxWorkers=1', ...projects.flatMap((each) => ['--project', each]), ...paths];
const { status } = runTool('vitest/vitest.mjs', args, {
  env: { ...process.env, [env]: '1', MESHWRIGHT_BUILT: '1' },
});
process.exitCode = status ?? 1;
