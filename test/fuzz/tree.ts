/** @file Files as trees that may hold what no parsed value can: keys twice, `__proto__`, literals of any spelling. */
import type { Draws } from './random.ts';

/** A mapping keeps its keys in a row, a leaf is the text that stands in the file. */
export type Tree =
  | { readonly kind: 'mapping'; readonly entries: [key: string, value: Tree][] }
  | { readonly kind: 'list'; readonly items: Tree[] }
  | { readonly kind: 'leaf'; text: string };

export function treeOf(value: unknown): Tree {
  if (Array.isArray(value)) return { kind: 'list', items: value.map(treeOf) };
  if (typeof value === 'object' && value !== null) {
    return { kind: 'mapping', entries: Object.entries(value).map(([key, each]) => [key, treeOf(each)]) };
  }
  return { kind: 'leaf', text: JSON.stringify(value) };
}

/** The tree as one line of JSON, as far as its leaves are JSON; YAML otherwise. */
export function textOf(tree: Tree): string {
  switch (tree.kind) {
    case 'leaf':
      return tree.text;
    case 'list':
      return `[${tree.items.map(textOf).join(', ')}]`;
    case 'mapping':
      return `{${tree.entries.map(([key, value]) => `${JSON.stringify(key)}: ${textOf(value)}`).join(', ')}}`;
  }
}

const numbers = [
  ...[
    '0',
    '-0',
    '-1',
    '1',
    '2',
    '3',
    '7',
    '0.5',
    '1.5',
    '-2.5',
    '1e-300',
    '5e-324',
    '64',
    '127',
    '1000',
    '1001',
    '4095',
  ],
  ...['4096', '4097', '65536', '131072', '1048576', '4194304', '16777216', '268435456', '2147483647', '4294967296'],
  ...['9007199254740991', '9007199254740993', '1e15', '1e18', '1e100', '1.7976931348623157e308', '1e309', '-1e309'],
];
const words = ['""', '" "', '"NaN"', '"Infinity"', '"-Infinity"', '"1e9"', '"12"', '"auto"', '"none"', '"__proto__"'];
const strays = [
  '"\\u0000"',
  '"\\ud800"',
  '"\\u202eabc"',
  '"x\\ny"',
  '"../../x.json"',
  '"8x dgx-h100"',
  '"16Mi"',
  '"1e400"',
];
const yaml = [
  '.nan',
  '.inf',
  '-.inf',
  '~',
  '0x10',
  '0o17',
  '1_000',
  '!!int 3',
  '!!binary aGk=',
  '&a 1',
  '*a',
  '|',
  '? 1',
];
const plain = ['null', 'true', 'false', '[]', '{}', '[null]', '[1, 2, 3]', '{"a": 1}', '{"__proto__": {"layers": 2}}'];
const literals = [...numbers, ...numbers, ...numbers, ...numbers, ...words, ...strays, ...yaml, ...plain];
const strangeKeys = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '',
  ' ',
  'a.b',
  '0',
  'layers ',
];

/** A leaf that the place does not expect; long and deep ones are rare, because they are slow to write. */
function oddLeaf(draws: Draws): Tree {
  if (draws.chance(0.97)) return { kind: 'leaf', text: draws.pick(literals) };
  const size = 1 + draws.whole(draws.pick([8, 70, 3000]));
  const build = draws.pick([
    () => `${'['.repeat(size)}${']'.repeat(size)}`,
    () => `${'{"a": '.repeat(size)}1${'}'.repeat(size)}`,
    () => `[${Array.from({ length: size }, (_, index) => index).join(', ')}]`,
    () => JSON.stringify('9'.repeat(size)),
    () => '9'.repeat(size),
    () => JSON.stringify('x'.repeat(size)),
  ]);
  return { kind: 'leaf', text: build() };
}

/** All mappings and lists of `tree`, itself among them. */
function branches(tree: Tree): Exclude<Tree, { kind: 'leaf' }>[] {
  if (tree.kind === 'leaf') return [];
  const children = tree.kind === 'list' ? tree.items : tree.entries.map(([, value]) => value);
  return [tree, ...children.flatMap(branches)];
}

/** Changes `tree` in one place; `names` are keys of other files of its kind. */
export function mutateTree(tree: Tree, draws: Draws, names: readonly string[]): void {
  const branch = draws.pick(branches(tree));
  if (branch === undefined) return;
  if (branch.kind === 'list') {
    const at = draws.whole(branch.items.length + 1);
    branch.items.splice(at, draws.whole(2), oddLeaf(draws));
    return;
  }
  const { entries } = branch;
  const at = draws.whole(entries.length);
  const [key, value] = entries[at] ?? ['layers', oddLeaf(draws)];
  const change = draws.pick([
    () => entries.splice(at, 1),
    () => entries.splice(at, 1, [draws.pick([...strangeKeys, `${key}s`, key.toUpperCase(), key.slice(1)]), value]),
    () => entries.splice(at, 0, [key, oddLeaf(draws)]),
    () => entries.splice(at, 0, [draws.pick(names), oddLeaf(draws)]),
    () => entries.splice(at, 0, [draws.pick(strangeKeys), oddLeaf(draws)]),
    () => entries.splice(at, 1, [key, { kind: 'list', items: [value] }]),
    () => entries.splice(at, 1, [key, { kind: 'leaf', text: JSON.stringify(textOf(value)) }]),
    () => entries.splice(at, 1, [key, scaled(value, draws)]),
    () => entries.splice(at, 1, [key, oddLeaf(draws)]),
    () => entries.splice(at, 1, [key, oddLeaf(draws)]),
  ]);
  change();
}

/** A number near the one that stands there, so that it is read and the laws behind the reader are met. */
function scaled(value: Tree, draws: Draws): Tree {
  const number = value.kind === 'leaf' ? Number(value.text) : Number.NaN;
  if (!Number.isFinite(number)) return oddLeaf(draws);
  const factor = draws.pick([0.5, 2, 3, 4, 8, 64, 1024, 1 / 16]);
  return { kind: 'leaf', text: String(draws.chance(0.5) ? number * factor : number + draws.pick([-1, 1, 2, 7])) };
}

const pieces = [
  '\u0000',
  '\u0007',
  '\u001b[31m',
  '\t',
  '\ufeff',
  '\ud83d',
  '\r\n',
  ':',
  '- ',
  '#',
  '{',
  ']',
  '"',
  '---\n',
  '&x ',
  '*x',
  '%',
];

/** Cuts, doubles or strews `text`, as broken transfers and editors do. */
export function mutateText(text: string, draws: Draws): string {
  const at = draws.whole(text.length + 1);
  const to = Math.min(text.length, at + 1 + draws.whole(draws.pick([2, 20, 400])));
  const change = draws.pick([
    () => text.slice(0, at),
    () => text.slice(at),
    () => text.slice(0, at) + text.slice(to),
    () => text.slice(0, to) + text.slice(at),
    () => text.slice(0, at) + draws.pick(pieces) + text.slice(at),
    () => text.slice(0, at) + draws.pick(literals) + text.slice(to),
    () => text.slice(0, at) + String.fromCharCode(draws.whole(0x300)) + text.slice(at + 1),
  ]);
  return change();
}
