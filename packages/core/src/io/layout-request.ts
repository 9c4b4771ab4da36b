/** @file From what a user writes for `layout` to a request: a mapping of keys, or the short text `tp=8,pp=4`. */
import { didYouMean, type Issue, issue, type Position, quote, quoteName } from '../errors/index.ts';
import type { LayoutRequest } from '../layout/index.ts';
import { foreignNames, keyNamed, layoutNames, type ReadableKey } from './layout-keys.ts';
import { type Problem, tokenValue } from './layout-values.ts';
import { locatorOf } from './positions.ts';

/** A key as it was written, with the place of the key and of its value when it stands in a text. */
interface Entry {
  readonly name: string;
  readonly value: unknown;
  readonly keyAt?: Position;
  readonly valueAt?: Position;
}

/** The part of a layout that was given; `written` tells under which name each key stands. */
export interface LayoutReading {
  readonly layout: LayoutRequest;
  readonly issues: readonly Issue[];
  /** Where the value of a key stands, for keys that stand in a text. */
  readonly places: ReadonlyMap<string, Position>;
  readonly written: ReadonlyMap<string, string>;
}

/** A request from a mapping; paths of issues begin with `path` and end in the name as written. */
export function layoutFromMapping(mapping: Readonly<Record<string, unknown>>, path: string): LayoutReading {
  return read(
    Object.entries(mapping).map(([name, value]) => ({ name, value })),
    path,
  );
}

/** Where a layout text stands; absent: it is a text of its own, called `--layout`. */
export interface TextOrigin {
  readonly path?: string;
  readonly file?: string;
  /** Position of an offset of the text. */
  readonly at?: (offset: number) => Position;
}

/** A request from the short text form, `tp=8,pp=4,sp=on`. Every issue carries its position inside the text. */
export function parseLayoutString(text: string, origin: TextOrigin = {}): LayoutReading {
  const { path = 'layout', file = '--layout' } = origin;
  const at = origin.at ?? locatorOf(text, file);
  const entries: Entry[] = [];
  const issues: Issue[] = [];
  let offset = 0;
  for (const part of text.split(',')) {
    const start = offset + part.length - part.trimStart().length;
    offset += part.length + 1;
    const item = part.trim();
    const equals = item.indexOf('=');
    const name = item.slice(0, equals).trimEnd();
    const token = item.slice(equals + 1).trim();
    if (equals > 0 && token !== '') {
      const valueAt = start + item.length - item.slice(equals + 1).trimStart().length;
      entries.push({ name, value: tokenValue(token), keyAt: at(start), valueAt: at(valueAt) });
      continue;
    }
    const message = item === '' ? 'nothing stands between the commas.' : `${quote(item)} is not key=value.`;
    issues.push({ ...issue('SYNTAX', path, message, 'Write key=value pairs: tp=8,pp=4.'), position: at(start) });
  }
  const reading = read(entries, path);
  return { ...reading, issues: [...issues, ...reading.issues] };
}

function read(entries: readonly Entry[], path: string): LayoutReading {
  const layout: Record<string, unknown> = {};
  const issues: Issue[] = [];
  const written = new Map<string, string>();
  const places = new Map<string, Position>();
  for (const entry of entries) {
    const { name, value } = entry;
    const problem = place(entry, layout, written);
    const long = keyNamed(name)?.long;
    if (long !== undefined && entry.valueAt && !places.has(long)) places.set(long, entry.valueAt);
    if (!problem) continue;
    const position = aboutKey(problem) ? entry.keyAt : entry.valueAt;
    const where = `${path}.${name}`;
    issues.push({
      ...issue(problem.code, where, problem.message, problem.hint, { value: quote(value) }),
      ...(position && { position }),
    });
  }
  return { layout: Object.freeze(layout) as LayoutRequest, issues, places, written };
}

const aboutKey = ({ code }: Problem): boolean =>
  code === 'KEY_UNKNOWN' || code === 'KEY_TWICE' || code === 'LAYOUT_KEY_NOT_YET';

/** Puts one entry into `layout`, or says why not. `auto` leaves a key open. */
function place(
  { name, value }: Entry,
  layout: Record<string, unknown>,
  written: Map<string, string>,
): Problem | undefined {
  const key = keyNamed(name);
  if (!key) return unknown(name);
  const before = written.get(key.long);
  if (before !== undefined) {
    const message = before === name ? `${name} is given twice.` : `${name} and ${before} are the same key.`;
    return { code: 'KEY_TWICE', message, hint: 'Keep one of the two.' } as const;
  }
  written.set(key.long, name);
  if (value === 'auto') return undefined;
  if (!key.read) return notYet(name, value, key);
  const result = key.read(value);
  if ('problem' in result) return result.problem;
  const keys = key.sets?.(result.value) ?? { [key.long]: result.value };
  const twice = Object.keys(keys).find((each) => each !== key.long && written.has(each));
  if (twice !== undefined) {
    const message = `${name} says ${twice} too, which is given as ${written.get(twice)}.`;
    return { code: 'KEY_TWICE', message, hint: 'Keep one of the two.' } as const;
  }
  for (const each of Object.keys(keys)) written.set(each, name);
  Object.assign(layout, keys);
  return undefined;
}

function unknown(name: string): Problem {
  const shown = quoteName(name);
  const folded = name.replace(/^--/, '').replaceAll('-', '_').toLowerCase();
  const here = Object.hasOwn(foreignNames, folded) ? foreignNames[folded] : undefined;
  const near = didYouMean(name, layoutNames);
  const hint = here ? `Use ${here}.` : near ? `Did you mean ${near}?` : `Use some of ${layoutNames.join(', ')}.`;
  return { code: 'KEY_UNKNOWN', message: `${shown} is not a key of a layout.`, hint };
}

function notYet(name: string, value: unknown, { accepts }: ReadableKey): Problem | undefined {
  const isDefault = accepts.includes(String(value)) || (Array.isArray(value) && value.length === 0);
  if (isDefault) return undefined;
  const [first] = accepts;
  const hint = first === undefined ? `Leave ${name} out.` : `Leave ${name} out, or use ${first}.`;
  return { code: 'LAYOUT_KEY_NOT_YET', message: `${quote(value)} is not priced yet.`, hint };
}
