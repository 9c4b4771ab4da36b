import { defineConfig } from 'vite';

/** The static build: relative paths, so that it works from any folder of any file host. */
export default defineConfig({
  base: './',
  resolve: { conditions: ['source', 'module', 'browser', 'import', 'default'] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  worker: { format: 'es' },
  build: { outDir: 'dist/site', emptyOutDir: true, target: 'es2023', modulePreload: { polyfill: false } },
});
