/** @file Names and words of core that the page shows: asked for once, so that the tables behind them stay in the worker. */
import { presetNames as hostNames } from '@meshwright/core/cluster';
import { type CodeRow, codes } from '@meshwright/core/errors';
import { presetNames as modelNames } from '@meshwright/core/model';

/** What can be chosen. */
export interface Names {
  readonly models: readonly string[];
  readonly hosts: readonly string[];
}

export const namesOf = (): Names => ({ models: [...modelNames], hosts: [...hostNames] });

/** Meaning and fix of codes. */
export const reasonsOf = (wanted: readonly string[]): Readonly<Record<string, CodeRow>> =>
  Object.fromEntries(Object.entries(codes).filter(([code]) => wanted.includes(code)));
