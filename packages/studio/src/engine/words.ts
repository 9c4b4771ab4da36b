/** @file Names of core that the page shows: asked for once, so that the tables behind them stay in the worker. */
import { clusterFromRequest, deviceNames, presetNames as hostNames } from '@meshwright/core/cluster';
import { presetNames as modelNames } from '@meshwright/core/model';

/** What can be chosen. */
export interface Names {
  readonly models: readonly string[];
  readonly hosts: readonly string[];
  readonly gpus: readonly string[];
  /** Line rate of a card between hosts, in Gb/s, by host. */
  readonly linkGbps: Readonly<Record<string, number>>;
}

export const namesOf = (): Names => ({
  models: [...modelNames],
  hosts: [...hostNames],
  gpus: [...deviceNames],
  linkGbps: Object.fromEntries(
    hostNames.flatMap((host) => {
      const { cluster } = clusterFromRequest({ preset: host, nodes: 2 }, 'cluster');
      return cluster ? [[host, Math.round((cluster.inter.rate.value * 8) / 1e9)]] : [];
    }),
  ),
});
