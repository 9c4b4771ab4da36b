/** @file Writes what is made from code: the pages of docs/reference (schema of programs, errors, keys of jobs, layouts and
 * clusters, legality) and the excerpts of the guide to step programs.
 *
 *   node tools/generate-docs.mjs
 *
 * A test compares the files with what this would write. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fillExcerpts } from './excerpts.mjs';
import { clustersPage } from './pages/clusters.mjs';
import { jobPage } from './pages/job.mjs';
import { layoutPage } from './pages/layout.mjs';
import { legalityPage } from './pages/legality.mjs';
import { build, root } from './ready.mjs';

const guide = 'docs/guide/step-program.md';
/** The program that the guide reads. */
export const guideProgram = 'test/golden/programs/example-2x2x2-zero-1.txt';

/** Rooms of @meshwright/core that pages are made from. */
export const rooms = ['cluster', 'errors', 'frameworks', 'io', 'job', 'layout', 'program'];

/** Path and text of every generated page. `core` holds the exports of all {@link rooms}. */
export function generatedPages(core) {
  const { codes, programJsonSchema } = core;
  const read = (path) => readFileSync(join(root, path), 'utf8');
  return {
    [guide]: fillExcerpts(read(guide), read(guideProgram)),
    'docs/reference/clusters.md': clustersPage(core),
    'docs/reference/errors.md': errorsPage(codes),
    'docs/reference/job.md': jobPage(core),
    'docs/reference/layout.md': layoutPage(core),
    'docs/reference/legality.md': legalityPage(core),
    'docs/reference/program.schema.json': `${JSON.stringify(programJsonSchema(), undefined, 2)}\n`,
  };
}

function errorsPage(codes) {
  const cell = (text) => text.replaceAll('|', '\\|');
  const rows = Object.keys(codes)
    .sort()
    .map((code) => `| <a id="${code}"></a>\`${code}\` | ${cell(codes[code].meaning)} | ${cell(codes[code].fix)} |`);
  return [
    '# Errors and warnings',
    '',
    'Every issue that Meshwright reports carries one of these codes. The message beside it names the place and the values.',
    'Generated from `packages/core/src/errors/codes` by `node tools/generate-docs.mjs`.',
    '',
    '| Code | What it means | What to do |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

async function main() {
  build();
  const core = Object.assign({}, ...(await Promise.all(rooms.map((room) => import(`@meshwright/core/${room}`)))));
  for (const [path, text] of Object.entries(generatedPages(core))) {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    console.error(path);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
