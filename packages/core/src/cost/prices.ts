import type { ClusterSpec } from '../cluster/index.ts';
import { assertInvariant } from '../errors/index.ts';
import type { Mesh } from '../mesh/index.ts';
import type { PriceOptions, Prices } from './price-types.ts';

/** Prices of one cluster under one mesh. */
export function createPrices(cluster: ClusterSpec, mesh: Mesh, options: PriceOptions = {}): Prices {
  assertInvariant(false, () => `no prices yet for ${cluster.name} ${mesh.axes.length} ${Object.keys(options).length}`);
  throw new Error('internal: unreachable');
}
