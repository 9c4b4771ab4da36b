/** @file From the syntax tree of YAML to plain values, with every problem at its offset.
 *
 * Aliases are expanded within a budget, so that a few lines cannot grow into gigabytes; keys that would reach into
 * prototypes are refused; a key that is given twice keeps its first value.
 */
import { isAlias, isMap, isScalar, isSeq, type Pair, type ParsedNode, type YAMLMap } from 'yaml';
import { type Code, quoteName } from '../errors/index.ts';

/** Depth of nesting, aliases expanded, beyond which a file is refused. */
export const DEEPEST = 64;
/** Values that all aliases of a file may expand to. */
const ALIAS_BUDGET = 10_000;

/** A problem at an offset of the text. */
export interface Finding {
  readonly code: Code;
  readonly path: string;
  readonly message: string;
  readonly hint: string;
  readonly offset: number;
}

/** A plain value, what is wrong with it, and where each alias leads. */
export interface Plain {
  readonly value: unknown;
  readonly findings: readonly Finding[];
  readonly targets: ReadonlyMap<unknown, ParsedNode>;
}

interface Walk {
  readonly findings: Finding[];
  readonly anchors: Map<string, ParsedNode>;
  readonly targets: Map<unknown, ParsedNode>;
  /** Values that aliases have expanded to so far. */
  expanded: number;
  stopped: boolean;
}

interface Place {
  readonly path: string;
  readonly depth: number;
  /** Offset of the outermost alias that is being expanded. */
  readonly alias: number | undefined;
}

const forbidden = new Set(['__proto__', 'constructor', 'prototype']);

/** The plain value of a document's contents. */
export function plainOf(root: ParsedNode): Plain {
  const walk: Walk = { findings: [], anchors: new Map(), targets: new Map(), expanded: 0, stopped: false };
  const value = visit(root, walk, { path: '', depth: 0, alias: undefined });
  return { value, findings: walk.findings, targets: walk.targets };
}

function visit(node: ParsedNode | null, walk: Walk, place: Place): unknown {
  if (walk.stopped || node === null) return null;
  if (place.alias !== undefined) walk.expanded += 1;
  if (walk.expanded > ALIAS_BUDGET || place.depth > DEEPEST) return stop(node, walk, place);
  if (isAlias(node)) return visitAlias(node, walk, place);
  if (node.anchor !== undefined && place.alias === undefined) walk.anchors.set(node.anchor, node);
  if (isScalar(node)) return node.value;
  if (isSeq(node)) {
    return node.items.map((item, index) => visit(item as ParsedNode, walk, below(place, String(index))));
  }
  if (isMap(node)) return visitMap(node, walk, place);
  return null;
}

const below = (place: Place, key: string): Place => ({
  ...place,
  path: place.path === '' ? key : `${place.path}.${key}`,
  depth: place.depth + 1,
});

function stop(node: ParsedNode, walk: Walk, place: Place): undefined {
  walk.stopped = true;
  const aliases = walk.expanded > ALIAS_BUDGET;
  const message = aliases
    ? `aliases expand to more than ${ALIAS_BUDGET} values.`
    : `values are nested more than ${DEEPEST} deep.`;
  const hint = aliases ? 'Write the values out, or remove the aliases.' : 'Give a flatter file.';
  const offset = place.alias ?? node.range[0];
  walk.findings.push({ code: 'TOO_LARGE', path: place.alias === undefined ? place.path : '', message, hint, offset });
}

function visitAlias(node: ParsedNode & { readonly source: string }, walk: Walk, place: Place): unknown {
  const target = walk.anchors.get(node.source);
  const offset = node.range[0];
  if (target === undefined) {
    const message = `the alias *${quoteName(node.source)} has no anchor before it.`;
    const hint = `Put &${quoteName(node.source)} before the value, or write the value out.`;
    walk.findings.push({ code: 'SYNTAX', path: place.path, message, hint, offset });
    return null;
  }
  walk.targets.set(node, target);
  return visit(target, walk, { ...place, depth: place.depth + 1, alias: place.alias ?? offset });
}

function visitMap(node: YAMLMap, walk: Walk, place: Place): Readonly<Record<string, unknown>> {
  const value: Record<string, unknown> = {};
  for (const pair of node.items as readonly Pair<ParsedNode, ParsedNode | null>[]) {
    if (walk.stopped) break;
    const key = isScalar(pair.key) ? String(pair.key.value ?? '') : undefined;
    const problem = problemOf(key, value);
    if (key !== undefined && problem === undefined) value[key] = visit(pair.value, walk, below(place, key));
    if (problem === undefined || place.alias !== undefined) continue;
    walk.findings.push({ ...problem, path: below(place, key ?? '').path, offset: pair.key.range[0] });
  }
  return value;
}

function problemOf(key: string | undefined, value: object): Pick<Finding, 'code' | 'message' | 'hint'> | undefined {
  if (key === undefined)
    return { code: 'SYNTAX', message: 'a key is not plain text.', hint: 'Write a name as the key.' };
  if (forbidden.has(key)) return { code: 'KEY_UNKNOWN', message: `${key} is never read.`, hint: 'Remove it.' };
  if (!Object.hasOwn(value, key)) return undefined;
  return { code: 'KEY_TWICE', message: `${quoteName(key)} is given twice.`, hint: 'Keep one of the two.' };
}
