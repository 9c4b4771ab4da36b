/** @file Names of core that the page shows: asked for once, so that the tables behind them stay in the worker. */
import { deviceNames, presetNames as hostNames } from '@meshwright/core/cluster';
import { presetNames as modelNames } from '@meshwright/core/model';

/** What can be chosen. */
export interface Names {
  readonly models: readonly string[];
  readonly hosts: readonly string[];
  readonly gpus: readonly string[];
}

export const namesOf = (): Names => ({ models: [...modelNames], hosts: [...hostNames], gpus: [...deviceNames] });
