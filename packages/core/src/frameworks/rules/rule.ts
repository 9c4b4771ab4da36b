import type { Code, Issue } from '../../errors/index.ts';
import type { FrameworkName } from '../types.ts';
import type { FrameworkSetup, FrameworkSwitches, SetupKey } from './setup.ts';

/** The values of the keys that a rule reads, all of them known. */
export type Known<Key extends SetupKey> = {
  readonly [Name in Key]-?: Name extends keyof FrameworkSetup
    ? NonNullable<FrameworkSetup[Name]>
    : Name extends keyof FrameworkSwitches
      ? NonNullable<FrameworkSwitches[Name]>
      : never;
};

/** What a rule found wrong; `values.fits` are values of `key` at which the rule is content. */
export interface SetupFinding {
  readonly key: SetupKey;
  readonly message: string;
  readonly hint: string;
  readonly values: NonNullable<Issue['values']>;
}

/** One law of a framework's own arithmetic, as its code states it. */
export interface FrameworkRule {
  readonly code: Code;
  readonly frameworks: readonly FrameworkName[];
  /** Where the framework says so. */
  readonly source: string;
  /** Keys that must be known for the rule to be asked. */
  readonly reads: readonly SetupKey[];
  readonly find: (setup: FrameworkSetup, known: Known<SetupKey>) => SetupFinding | undefined;
}

/** A rule whose finder sees the keys that it reads, and the whole setup for those that have a default. */
export const rule = <const Key extends SetupKey>(
  code: Code,
  frameworks: readonly FrameworkName[],
  source: string,
  reads: readonly Key[],
  find: (known: Known<Key>, setup: FrameworkSetup) => SetupFinding | undefined,
): FrameworkRule => ({
  code,
  frameworks,
  source,
  reads,
  find: (setup, known) => find(known as unknown as Known<Key>, setup),
});

/** `a x b = c` in words, degrees of 1 left out. */
export const product = (factors: Readonly<Record<string, number>>): string => {
  const shown = Object.entries(factors).filter(([, value]) => value !== 1);
  const words = (shown.length > 0 ? shown : Object.entries(factors)).map(([name, value]) => `${name} ${value}`);
  return words.length > 1 ? `${words.join(' x ')} = ${times(factors)}` : words.join('');
};

/** The product of the values. */
export const times = (factors: Readonly<Record<string, number>>): number =>
  Object.values(factors).reduce((all, each) => all * each, 1);

/** Frameworks that share Megatron-LM's code. */
export const megatrons: readonly FrameworkName[] = ['megatron', 'nemo'];
