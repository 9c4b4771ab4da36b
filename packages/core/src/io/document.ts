/** @file A YAML or JSON file as a plain value that knows where each part of it stands.
 *
 * No user input is thrown at: what is wrong comes back as issues with positions. The nesting of the syntax is measured
 * before the tree is composed, because the composer recurses and a file of brackets would exhaust the stack.
 */
import { Composer, type CST, isMap, isScalar, isSeq, type ParsedNode, Parser } from 'yaml';
import { type Code, type Issue, issue, type Position } from '../errors/index.ts';
import { DEEPEST, type Plain, plainOf } from './plain.ts';
import { type Locator, locatorOf } from './positions.ts';
import { explainSyntax } from './syntax.ts';

/** A file that was read. */
export interface SourceDocument {
  readonly file: string;
  readonly value: unknown;
  /** Where the value at a dotted path stands (`key`: the key instead); the nearest part above when it is absent. */
  locate(path: string, part?: 'key' | 'value'): Position;
  /** The position `offset` characters into the text at a path, as far as the file shows that text as it is. */
  within(path: string, offset: number): Position;
}

/** `document` is present when the syntax is whole; `issues` may still name keys given twice. */
export interface DocumentResult {
  readonly document?: SourceDocument;
  readonly issues: readonly Issue[];
}

/** Characters of a file beyond which it is refused. */
export const LONGEST_JOB: number = 2 ** 18;
export const LONGEST_CONFIG: number = 2 ** 21;
const MOST_SYNTAX_ISSUES = 10;

/** Reads one YAML or JSON document of at most `longest` characters. */
export function readDocument(given: string, file: string, longest: number): DocumentResult {
  const text = given.startsWith('\ufeff') ? given.slice(1) : given;
  const locator = locatorOf(text.slice(0, longest + 1), file);
  const at = (offset: number, code: Code, message: string, hint: string, path = ''): Issue => ({
    ...issue(code, path, message, hint),
    position: locator(offset),
  });
  if (text.length > longest) {
    const message = `the file has ${text.length} characters, more than the ${longest} that are read.`;
    return { issues: [at(0, 'TOO_LARGE', message, 'Name the file that you meant, or shorten it.')] };
  }
  const odd = notText.exec(text);
  if (odd) {
    const code = odd[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    const message = `the character U+${code} does not stand in text.`;
    return { issues: [at(odd.index, 'NOT_TEXT', message, 'Name a YAML or JSON file, saved as UTF-8.')] };
  }
  const tokens = [...new Parser().parse(text)];
  const deep = tooDeep(tokens);
  if (deep !== undefined) {
    const message = `values are nested more than ${DEEPEST} deep.`;
    return { issues: [at(deep, 'TOO_LARGE', message, 'Give a flatter file.')] };
  }
  const options = { uniqueKeys: false, schema: 'core', merge: false, logLevel: 'silent' } as const;
  const documents = [...new Composer<ParsedNode>(options).compose(tokens, false, text.length)];
  const syntax = documents.flatMap((each) => [...each.errors, ...each.warnings]).slice(0, MOST_SYNTAX_ISSUES);
  if (syntax.length > 0) {
    const said = syntax.map((each) => explainSyntax(each, text));
    return { issues: said.map(({ offset, message, hint }) => at(offset, 'SYNTAX', message, hint)) };
  }
  const [first, second] = documents;
  if (second) {
    const message = `the file holds ${documents.length} documents and one is read.`;
    return { issues: [at(second.range[0], 'DOCUMENTS_MANY', message, 'Keep one document.')] };
  }
  const root = first?.contents;
  if (!root || isNothing(root)) {
    return { issues: [at(0, 'FILE_EMPTY', 'the file holds no value.', 'Write the keys into it.')] };
  }
  const plain = plainOf(root);
  const issues = plain.findings.map((each) => at(each.offset, each.code, each.message, each.hint, each.path));
  const unreadable = plain.findings.some(({ code }) => code === 'SYNTAX' || code === 'TOO_LARGE');
  return unreadable ? { issues } : { document: documentOf(file, root, plain, locator, text), issues };
}

const notText = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffd-\uffff]/;

const isNothing = (node: ParsedNode): boolean => isScalar(node) && node.value === null;

/** Offset of the first token that stands deeper than allowed; counts each container once. */
function tooDeep(tokens: readonly CST.Token[]): number | undefined {
  const open: (readonly [CST.Token, number])[] = tokens.map((token) => [token, 0]);
  for (let next = open.pop(); next; next = open.pop()) {
    const [token, depth] = next;
    if (depth > DEEPEST + 1) return token.offset;
    if ('value' in token && typeof token.value === 'object') open.push([token.value as CST.Token, depth + 1]);
    if (!('items' in token)) continue;
    for (const item of token.items) {
      if (item.key) open.push([item.key, depth + 1]);
      if (item.value) open.push([item.value, depth + 1]);
    }
  }
  return undefined;
}

interface Found {
  readonly key: ParsedNode | undefined;
  readonly value: ParsedNode | undefined;
  readonly whole: boolean;
}

function documentOf(file: string, root: ParsedNode, plain: Plain, locator: Locator, text: string): SourceDocument {
  const find = (path: string): Found => descend({ key: undefined, value: root, whole: false }, path, plain.targets);
  const startOf = (found: Found, part: 'key' | 'value'): number => {
    const { key, value } = found;
    const node = part === 'key' || !found.whole || !value || isNothing(value) ? (key ?? value) : value;
    return (node ?? root).range[0];
  };
  return {
    file,
    value: plain.value,
    locate: (path, part = 'value') => locator(startOf(find(path), part)),
    within: (path, offset) => {
      const { value } = find(path);
      if (!value || !isScalar(value) || typeof value.value !== 'string') return locator(startOf(find(path), 'value'));
      const start = value.range[0];
      const inner = text.startsWith(value.value, start) ? start : start + 1;
      return locator(text.startsWith(value.value, inner) ? inner + offset : start);
    },
  };
}

/** Follows `path` from a node as far as it exists. Keys may hold dots, so the longest key that fits is taken. */
function descend(from: Found, path: string, targets: Plain['targets']): Found {
  const { value } = from;
  if (path === '') return { ...from, whole: true };
  const node = (value && targets.get(value)) ?? value;
  if (isSeq(node)) {
    const [head = ''] = path.split('.');
    const item = node.items[Number(head)] as ParsedNode | undefined;
    if (!item) return { ...from, whole: false };
    return descend({ key: undefined, value: item, whole: false }, path.slice(head.length + 1), targets);
  }
  if (!isMap(node)) return { ...from, whole: false };
  const fits = node.items
    .flatMap((pair) => (isScalar(pair.key) ? [{ pair, name: String(pair.key.value ?? '') }] : []))
    .filter(({ name }) => path === name || path.startsWith(`${name}.`))
    .sort((a, b) => b.name.length - a.name.length)[0];
  if (!fits) return { ...from, whole: false };
  const key = fits.pair.key as ParsedNode;
  const next = (fits.pair.value as ParsedNode | null) ?? undefined;
  return descend({ key, value: next, whole: false }, path.slice(fits.name.length + 1), targets);
}

/** Codes that speak of a key rather than of its value. */
const aboutKeys: ReadonlySet<Code> = new Set<Code>(['KEY_UNKNOWN', 'KEY_TWICE', 'LAYOUT_KEY_NOT_YET']);

/** `each` with the position of its path in `document`, unless it has one. */
export function placeIssue(document: SourceDocument, each: Issue): Issue {
  if (each.position) return each;
  return { ...each, position: document.locate(each.path, aboutKeys.has(each.code) ? 'key' : 'value') };
}
