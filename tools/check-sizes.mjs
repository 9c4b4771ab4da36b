/** @file Sizes and words of source files: lines per file and per function, names that say nothing, and leftovers that a
 * review would send back. Errors end with 1; warnings are printed and pass. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const limits = { softFileLines: 250, hardFileLines: 400, functionLines: 60 };

const root = fileURLToPath(new URL('..', import.meta.url));
const ignoredFolders = new Set([
  'node_modules',
  'dist',
  '.git',
  '.cache',
  'coverage',
  'golden',
  '__snapshots__',
  'data',
]);
const ignoredPaths = new Set(['data', 'test/golden']);
const textFile = /\.(tsx?|mjs|cjs|js|sh|md|ya?ml|json)$|^run$/;
const code = /\.(tsx?|mjs|cjs|js)$/;
const testFile = /(\.(test|test-d|fixture)\.tsx?$)|^test\//;
const generatedFile = /\/generated\//;
const bannedName = /^(utils?|helpers?|managers?|misc)$/;

/** Words that may not stand in a file. The patterns are written so that they do not match themselves. */
const words = [
  { pattern: /\b(TO(?:DO)|FIX(?:ME)|X{3})\b/, says: 'unfinished work belongs in an issue' },
  { pattern: /\b(it|test|describe|bench)\.(only|skip|todo)\b/, says: 'a test is run or deleted', of: code },
  { pattern: /\bas (?:any)\b/, says: 'name the type', of: code },
  { pattern: /@ts-(?:ignore|nocheck)/, says: 'mend the type instead', of: code },
  { pattern: /(^|[\s'"`(=])\/(?:home|root|Users|work)\/\w/, says: 'a path of one machine' },
  {
    pattern: /\b(Date\.now|Math\.random|performance\.now|new Date)\(/,
    says: 'core has no clock and no dice: take it as an argument',
    of: /^packages\/core\/src\//,
    shippedOnly: true,
  },
];

/** What is wrong with one file; `path` is relative to the repository, with forward slashes. */
export function checkFile(path, text) {
  const errors = [];
  const warnings = [];
  const lines = text.split('\n');
  const stem = basename(path).replace(/\..*$/, '');
  if (code.test(path) && bannedName.test(stem)) errors.push(`${path}: a file called "${stem}" says nothing`);
  const isTest = testFile.test(path);
  lines.forEach((line, index) => {
    for (const { pattern, says, of, shippedOnly } of words) {
      if (of && !of.test(path)) continue;
      if (isTest && shippedOnly) continue;
      const found = pattern.exec(line);
      if (found) errors.push(`${path}:${index + 1}: "${found[0].trim()}": ${says}`);
    }
    if (code.test(path) && /^\s*(\*|\/\*|\/\/)/.test(line) && /[^\t\x20-\x7e]/.test(line)) {
      errors.push(`${path}:${index + 1}: comments are ASCII`);
    }
  });
  if (!code.test(path) || isTest || generatedFile.test(path)) return { errors, warnings };
  const count = text.endsWith('\n') ? lines.length - 1 : lines.length;
  if (count > limits.hardFileLines) errors.push(`${path}: ${count} lines, at most ${limits.hardFileLines}`);
  else if (count > limits.softFileLines) warnings.push(`${path}: ${count} lines, better under ${limits.softFileLines}`);
  errors.push(...longFunctions(path, text));
  return { errors, warnings };
}

function longFunctions(path, text) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const line = (position) => source.getLineAndCharacterOfPosition(position).line + 1;
  const found = [];
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body) {
      const start = line(node.getStart(source));
      const length = line(node.end) - start + 1;
      const name = node.name?.getText(source) ?? node.parent?.name?.getText?.(source) ?? 'function';
      if (length > limits.functionLines) {
        found.push(`${path}:${start}: ${name} has ${length} lines, at most ${limits.functionLines}`);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function* filesBelow(folder, prefix = '') {
  for (const entry of readdirSync(join(folder, prefix), { withFileTypes: true })) {
    if (ignoredFolders.has(entry.name)) continue;
    const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
    if (ignoredPaths.has(path)) continue;
    if (entry.isDirectory()) yield* filesBelow(folder, path);
    else if (entry.isFile() && textFile.test(entry.name) && entry.name !== 'package-lock.json') yield path;
  }
}

function main() {
  const results = [...filesBelow(root)].map((path) => checkFile(path, readFileSync(join(root, path), 'utf8')));
  const errors = results.flatMap((each) => each.errors);
  for (const each of results.flatMap((one) => one.warnings)) console.error(`warning: ${each}`);
  for (const each of errors) console.error(`error: ${each}`);
  process.exitCode = errors.length === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
