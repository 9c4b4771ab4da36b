import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Tests read sources: the export condition `source` of every package leads to `src`, so no build is needed.
 * Worker threads are the exception (Node 20 cannot load a `.ts` worker): `runtime` and `e2e` build first. */
const conditions = ['source'];
const shared = {
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
} as const;
const setupFiles = ['test/setup/fast-check.ts'];
/** Against hangs only: properties take seconds alone and many times that on a loaded machine. */
const testTimeout = 180_000;
const build = ['test/setup/build.ts'];

export default defineConfig({
  test: {
    // All of them: left to itself, a machine of two cores tests on one.
    maxWorkers: availableParallelism(),
    projects: [
      {
        ...shared,
        test: {
          name: 'unit',
          // No module keeps state: files of one worker share what they have loaded, which halves the time of imports.
          isolate: false,
          include: [
            'packages/{core,figures,studio,cli}/src/**/*.test.{ts,tsx}',
            'test/{tools,conformance,fuzz}/**/*.test.ts',
          ],
          setupFiles,
          testTimeout,
        },
      },
      {
        ...shared,
        test: {
          name: 'runtime',
          include: ['packages/runtime/src/**/*.test.ts'],
          setupFiles,
          globalSetup: build,
          testTimeout,
        },
      },
      {
        ...shared,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          setupFiles,
          globalSetup: build,
          testTimeout,
        },
      },
    ],
  },
});
