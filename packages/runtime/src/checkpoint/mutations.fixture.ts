/** Ways in which a checkpoint can be damaged or forged, each drawn from a seed. `reseal` makes the hashes right again, as
 * somebody who means harm would. */
import { createHash } from 'node:crypto';
import { mix } from '../numbers/hash.ts';

/** Files by name. */
export type Files = Record<string, Uint8Array>;

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Fields = { [key: string]: Json };

/** Draws without state: the n-th number of a mutation. */
class Draws {
  private count = 0;
  private readonly seed: number;
  constructor(seed: number) {
    this.seed = seed;
  }
  below(limit: number): number {
    this.count += 1;
    return mix(mix(this.seed, 0xbad), this.count) % Math.max(1, limit);
  }
  of<Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)]!;
  }
}

const hostile: readonly Json[] = [-1, 0, 1, 7, 0.5, 2 ** 31, 2 ** 53, 1e308, null, '', 'x', '../../x', [], {}, true];
const hashOf = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const INDEX = 'checkpoint.json';

/** A copy of the files with one thing wrong. */
export function mutate(files: Readonly<Files>, seed: number): Files {
  const draws = new Draws(seed);
  const changed: Files = Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, bytes.slice()]));
  const name = draws.of(Object.keys(changed));
  switch (draws.below(5)) {
    case 0:
      changed[name]![draws.below(changed[name]!.length)]! ^= 1 << draws.below(8);
      break;
    case 1:
      changed[name] = changed[name]!.slice(0, draws.below(changed[name]!.length));
      break;
    case 2:
      changed[name] = bytesOf(textOf(changed[name]!) + 'more');
      break;
    case 3:
      forgeShard(changed, draws);
      break;
    default:
      forgeIndex(changed, draws);
  }
  return changed;
}

/** Another header in front of the same elements, with hashes that agree. */
function forgeShard(files: Files, draws: Draws): void {
  const name = draws.of(Object.keys(files).filter((each) => each !== INDEX));
  const bytes = files[name]!;
  const length = Number(new DataView(bytes.buffer).getBigUint64(0, true));
  const header = JSON.parse(textOf(bytes.subarray(8, 8 + length))) as Fields;
  const forged = draws.below(6) === 0 ? draws.of(['', '[]', '{', 'null', '"x"', '{"a":1}']) : undefined;
  if (forged === undefined) changeSomething(header, draws);
  const text = bytesOf(forged ?? JSON.stringify(header));
  const claimed =
    draws.below(4) === 0 ? draws.of([0n, 2n ** 63n, 2n ** 40n, BigInt(text.length + 8)]) : BigInt(text.length);
  const elements = bytes.subarray(8 + length);
  const whole = new Uint8Array(8 + text.length + elements.length);
  new DataView(whole.buffer).setBigUint64(0, claimed, true);
  whole.set(text, 8);
  whole.set(elements, 8 + text.length);
  files[name] = whole;
  reseal(files, (content) => {
    for (const each of content['files'] as Fields[]) {
      if (each['name'] === name) Object.assign(each, { bytes: whole.length, sha256: hashOf(whole) });
    }
  });
}

function forgeIndex(files: Files, draws: Draws): void {
  reseal(files, (content) => changeSomething(content, draws));
}

function reseal(files: Files, change: (content: Fields) => void): void {
  const outer = JSON.parse(textOf(files[INDEX]!)) as { content: Fields; sha256: string };
  change(outer.content);
  outer.sha256 = hashOf(JSON.stringify(outer.content));
  files[INDEX] = bytesOf(JSON.stringify(outer));
}

/** Replaces, removes, doubles or renames one value somewhere in a tree. */
function changeSomething(tree: Fields | Json[], draws: Draws): void {
  const keys = Object.keys(tree);
  const key = draws.of(keys);
  const place = tree as Record<string, Json>;
  const value = place[key];
  const inside = value !== null && typeof value === 'object' && Object.keys(value).length > 0;
  if (inside && draws.below(8) !== 0) return changeSomething(value as Fields, draws);
  switch (draws.below(4)) {
    case 0:
      delete place[key];
      return;
    case 1:
      place[draws.of(['__proto__', 'constructor', `${key}2`, draws.of(keys)])] = value ?? null;
      return;
    case 2:
      place[key] = typeof value === 'number' ? value + draws.of([-4, -1, 1, 4]) : draws.of(hostile);
      return;
    default:
      place[key] = draws.of(hostile);
  }
}
