/** @file Writes what the README and the guide to choosing a layout show: output of the command and files of the repository,
 * between markers, and the drawings under docs/figures. Nothing in those places is written by hand.
 *
 *   node tools/readme.mjs            writes them anew
 *   node tools/readme.mjs --check    ends with 1 when a page says something else than the command
 *
 * Markers: `<!-- begin: meshwright plan x.yaml -->` (with `| head -n 9` behind it: only these lines),
 * `<!-- begin: node bench/x.mjs -->`, `<!-- begin: file examples/x.mjs -->`, all up to `<!-- end -->`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeReady, root, run } from './ready.mjs';

const pages = ['README.md', 'docs/guide/choosing-a-layout.md'];
const block = /<!-- begin: (.+?) -->\n[\s\S]*?<!-- end -->/g;

/** A figure of the main job under a layout that uses every axis. */
const job = 'examples/llama-3.1-70b-64xh100.yaml';
const layout = 'tp=8,pp=4,vpp=2,zero=1';
const figures = [
  ['docs/figures/exchanges.svg', ['figure', 'exchanges', job, '--layout', layout, '--svg']],
  ['docs/figures/timeline.svg', ['figure', 'timeline', job, '--layout', layout, '--to', '2500', '--svg']],
];

/** What the command says. */
const meshwright = (args) => output(['packages/cli/bin/meshwright.js', ...args]);

/** What a script says: its result, or what it has against bad input. */
function output(args) {
  const { status, stdout, stderr } = run(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (status === 0) return stdout;
  if (status === 2) return stderr;
  console.error(`${args.join(' ')}: exit ${status}`);
  process.exit(1);
}

/** What stands between two markers. */
function content(what) {
  const [, file] = /^file (.+)$/.exec(what) ?? [];
  if (file) return fenced('js', readFileSync(join(root, file), 'utf8'));
  const [, script] = /^node (.+)$/.exec(what) ?? [];
  if (script) return fenced('text', output([script]));
  const [, words, lines] = /^meshwright (.+?)(?: \| head -n (\d+))?$/.exec(what) ?? [];
  const text = meshwright(words.split(' '));
  return fenced('text', lines === undefined ? text : `${text.split('\n').slice(0, Number(lines)).join('\n')}\n`);
}

const fenced = (language, text) => `\`\`\`${language}\n${text}\`\`\`\n`;

makeReady();
const isCheck = process.argv.includes('--check');
for (const page of pages) {
  const before = readFileSync(join(root, page), 'utf8');
  const after = before.replace(block, (_, what) => `<!-- begin: ${what} -->\n${content(what)}<!-- end -->`);
  if (!isCheck) writeFileSync(join(root, page), after);
  else if (before !== after) {
    console.error(`${page} is not what the command says; run node tools/readme.mjs`);
    process.exitCode = 1;
  }
}
if (!isCheck) {
  mkdirSync(join(root, 'docs/figures'), { recursive: true });
  for (const [path, args] of figures) writeFileSync(join(root, path), meshwright(args));
}
