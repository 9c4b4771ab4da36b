/** @file Reads the keys of a mapping and collects every issue on the way. */
import { didYouMean, type Issue, issue } from '../errors/index.ts';

export type Mapping = Readonly<Record<string, unknown>>;

export const isMapping = (value: unknown): value is Mapping =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface NumberRule {
  readonly whole?: boolean;
  readonly min: number;
  readonly max: number;
}

/** A whole number from 1. */
export const count = (max: number): NumberRule => ({ whole: true, min: 1, max });

/** How a value shows in a message. */
export const shown = (value: unknown): string =>
  typeof value === 'string' ? `"${value}"` : (JSON.stringify(value) ?? String(value));

/** One mapping that is being read; `issues` is shared by all mappings of a cluster. */
export class Fields {
  readonly #value: Mapping;
  readonly #path: string;
  readonly issues: Issue[];

  constructor(value: Mapping, path: string, keys: readonly string[], issues: Issue[]) {
    this.#value = value;
    this.#path = path;
    this.issues = issues;
    for (const key of Object.keys(value)) {
      if (keys.includes(key)) continue;
      const near = didYouMean(key, keys);
      const hint = near === undefined ? `Use ${keys.join(', ')}.` : `Did you mean ${near}?`;
      issues.push(issue('KEY_UNKNOWN', this.pathOf(key), `${key} is not a key here.`, hint));
    }
  }

  pathOf(key: string): string {
    return this.#path === '' ? key : `${this.#path}.${key}`;
  }

  has(key: string): boolean {
    return this.#value[key] !== undefined;
  }

  raw(key: string): unknown {
    return this.#value[key];
  }

  /** The number under `key`, or undefined when it is absent or wrong. */
  number(key: string, rule: NumberRule): number | undefined {
    const value = this.#value[key];
    if (value === undefined) return undefined;
    const path = this.pathOf(key);
    if (typeof value !== 'number' || Number.isNaN(value) || (rule.whole && !Number.isInteger(value))) {
      const wanted = rule.whole ? 'a whole number' : 'a number';
      this.issues.push(issue('VALUE_WRONG_TYPE', path, `${shown(value)} is not ${wanted}.`, `Give ${wanted}.`));
      return undefined;
    }
    if (value < rule.min || value > rule.max) {
      const hint = `Use a value from ${rule.min} to ${rule.max}.`;
      this.issues.push(issue('VALUE_OUT_OF_RANGE', path, `${value} is outside of ${rule.min} to ${rule.max}.`, hint));
      return undefined;
    }
    return value;
  }

  /** One of `names` under `key`, case ignored. */
  choice<Name extends string>(
    key: string,
    names: readonly Name[],
    code: 'VALUE_UNKNOWN' | 'CLUSTER_PRESET_UNKNOWN' | 'GPU_UNKNOWN',
  ): Name | undefined {
    const value = this.#value[key];
    if (value === undefined) return undefined;
    const found = nameIn(value, names);
    if (found === undefined) this.issues.push(unknownName(value, this.pathOf(key), names, code));
    return found;
  }

  /** A mapping under `key`, read with `keys`. */
  mapping(key: string, keys: readonly string[]): Fields | undefined {
    const value = this.#value[key];
    if (value === undefined) return undefined;
    if (isMapping(value)) return new Fields(value, this.pathOf(key), keys, this.issues);
    const hint = `Give keys of ${keys.join(', ')}.`;
    this.issues.push(issue('VALUE_WRONG_TYPE', this.pathOf(key), `${shown(value)} is not a mapping.`, hint));
    return undefined;
  }
}

export const nameIn = <Name extends string>(value: unknown, names: readonly Name[]): Name | undefined =>
  typeof value === 'string' ? names.find((name) => name.toLowerCase() === value.toLowerCase()) : undefined;

export function unknownName(
  value: unknown,
  path: string,
  names: readonly string[],
  code: 'VALUE_UNKNOWN' | 'CLUSTER_PRESET_UNKNOWN' | 'GPU_UNKNOWN',
): Issue {
  const near = typeof value === 'string' ? didYouMean(value, names) : undefined;
  const hint = near === undefined ? `Use ${names.join(', ')}.` : `Did you mean ${near}? Known: ${names.join(', ')}.`;
  return issue(code, path, `${shown(value)} is not one of the ${names.length} known names.`, hint);
}
