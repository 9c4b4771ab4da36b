import { defineConfig, type Plugin } from 'vite';
import { jobOf } from './dist/engine/job-of.js';
import { planOf } from './dist/engine/plan.js';
import { createQuickPlanner } from './dist/engine/quick.js';
import { firstScenario } from './dist/scenario/scenario.js';

/** The first scenario is planned here, by the compiled engine of the page, so that the page opens with a worked plan. */
const workedScenario: Plugin = {
  name: 'worked-scenario',
  transformIndexHtml: () => {
    const worked = {
      scenario: firstScenario,
      quick: createQuickPlanner()(firstScenario, jobOf(firstScenario), 'usual'),
      planned: planOf(firstScenario),
    };
    const children = JSON.stringify(worked).replaceAll('<', '\\u003c');
    return [{ tag: 'script', attrs: { type: 'application/json', id: 'worked' }, children, injectTo: 'head' }];
  },
};

/** The static build: relative paths, so that it works from any folder of any file host. */
export default defineConfig({
  base: './',
  plugins: [workedScenario],
  resolve: { conditions: ['source', 'module', 'browser', 'import', 'default'] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  worker: { format: 'es' },
  build: { outDir: 'dist/site', emptyOutDir: true, target: 'es2023', modulePreload: { polyfill: false } },
});
