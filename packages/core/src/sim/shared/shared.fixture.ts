/** Steps of small models with long exchanges, on the links of real clusters. */
import { type ClusterSpec, clusterFromRequest } from '../../cluster/index.ts';
import { compileProgram } from '../../compile/index.ts';
import { toyLayout } from '../../compile/toy.fixture.ts';
import { createPrices, networkOf, type Prices } from '../../cost/index.ts';
import { createJob } from '../../job/index.ts';
import type { Layout } from '../../layout/index.ts';
import { modelFromDimensions } from '../../model/index.ts';
import type { Program } from '../../program/index.ts';

/** A program and what it runs on. */
export interface SharedCase {
  readonly program: Program;
  readonly cluster: ClusterSpec;
  readonly prices: Prices;
}

/** Four layers of a GPT-2 kind, wide enough for exchanges that take as long as kernels. */
export function sharedCase(keys: Partial<Layout>, cluster: string | object = '2x dgx-h100', rounds = 2): SharedCase {
  const { model } = modelFromDimensions(
    { kind: 'gpt2', layers: 4, hidden: 1024, heads: 16, ffn: 4096, vocab: 4096, positions: 512 },
    'model',
  );
  const spec = clusterFromRequest(cluster, 'cluster').cluster;
  if (!spec || !model) throw new Error('internal: the fixture is broken.');
  const layout = toyLayout({
    layersPerStage: Array.from(
      { length: (keys.pipeline ?? 2) * (keys.chunks ?? 1) },
      () => 4 / (keys.pipeline ?? 2) / (keys.chunks ?? 1),
    ),
    ...keys,
  });
  const sequences = rounds * layout.data * layout.microBatch;
  const job = createJob({ name: 'shared', model, cluster: spec, batch: { sequences, length: 512 } });
  const program = compileProgram(job, layout);
  return {
    program,
    cluster: spec,
    prices: createPrices(spec, program.mesh, { launchCompute: 1e-6, launchExchange: 1e-6 }),
  };
}

/** Layouts that between them share every kind of link. */
export const sharedLayouts: readonly Partial<Layout>[] = [
  { tensor: 2, pipeline: 2, data: 4, sharding: 1 },
  {
    tensor: 1,
    pipeline: 1,
    data: 16,
    sharding: 3,
    schedule: 'none',
    sequenceParallel: false,
    gradientReduction: 'per-micro-batch',
  },
  { tensor: 2, pipeline: 1, data: 8, sharding: 3, schedule: 'none', gradientReduction: 'per-micro-batch', prefetch: 2 },
  { tensor: 8, pipeline: 2, data: 1, sharding: 0 },
  { tensor: 2, pipeline: 4, data: 2, sharding: 2, gradientReduction: 'per-micro-batch' },
  { tensor: 1, pipeline: 2, data: 8, sharding: 0, schedule: 'gpipe', sequenceParallel: false },
];

export const network = ({ cluster }: SharedCase) => networkOf(cluster);
