import { describe, expect, it } from 'vitest';
import { clusterFromRequest } from '../cluster/index.ts';
import { createJob, type Job } from '../job/index.ts';
import { type Layout, normalizeLayout } from '../layout/index.ts';
import { modelFromConfig, modelFromDimensions } from '../model/index.ts';
import { bytesSent, type Program, verifyProgram } from '../program/index.ts';
import { compileProgram } from './index.ts';
import { toyLayout } from './toy.fixture.ts';

/** 2 layers of 8 experts, 2 for a token; hidden 16; 8 sequences of 8 tokens. */
function moeJob(): Job {
  const { cluster } = clusterFromRequest('1x dgx-h100', 'cluster');
  const dimensions = { layers: 2, hidden: 16, heads: 4, kvHeads: 4, ffn: 24, vocab: 32, experts: 8, topK: 2 };
  const { model } = modelFromDimensions({ kind: 'mixtral', ...dimensions }, 'model');
  if (!cluster || !model) throw new Error('internal: the fixture is broken.');
  return createJob({ name: 'toy', model, cluster, batch: { sequences: 8, length: 8 } });
}

const one = { pipeline: 1, schedule: 'none', layersPerStage: [2] } as const;
const each = { gradientReduction: 'per-micro-batch' } as const;
const layouts: readonly Partial<Layout>[] = [
  { ...one, tensor: 1, data: 4, expert: 4, expertTensor: 1, sharding: 0 },
  { ...one, tensor: 2, data: 4, expert: 4, expertTensor: 1, sharding: 0 },
  { tensor: 2, data: 4, expert: 2, expertTensor: 2, sharding: 1 },
  { tensor: 2, data: 4, expert: 2, expertTensor: 1, sharding: 3, ...each },
  { tensor: 2, data: 4, expert: 8, expertTensor: 1, sharding: 3, ...each },
  { ...one, tensor: 2, data: 4, expert: 1, expertTensor: 1, sharding: 2 },
  { ...one, tensor: 1, data: 4, expert: 2, expertTensor: 2, sharding: 2, recompute: 'full' },
  { ...one, tensor: 4, data: 1, expert: 2, expertTensor: 1, sharding: 0 },
];

/** Shared experts behind a gate; experts with biases; tokens weighed before their one expert. */
const kinds = {
  'shared experts': {
    model_type: 'qwen2_moe',
    shared_expert_intermediate_size: 24,
    num_experts: 8,
    num_experts_per_tok: 2,
    moe_intermediate_size: 24,
    decoder_sparse_step: 1,
  },
  'experts with biases': { model_type: 'gpt_oss', num_local_experts: 8, num_experts_per_tok: 2, head_dim: 8 },
} as const;
const configSizes = {
  num_hidden_layers: 2,
  hidden_size: 16,
  num_attention_heads: 4,
  num_key_value_heads: 4,
  intermediate_size: 24,
  vocab_size: 32,
  max_position_embeddings: 64,
};

function programOf(changes: Partial<Layout>): Program {
  const job = moeJob();
  return compileProgram(job, normalizeLayout(job, toyLayout(changes)));
}

describe('programs with experts over a grid of their own', () => {
  it.each(layouts)('are well formed: %j', (changes) => {
    expect(verifyProgram(programOf(changes))).toEqual([]);
  });

  it.each(Object.keys(kinds) as (keyof typeof kinds)[])('are well formed with %s', (name) => {
    const { model } = modelFromConfig({ ...configSizes, ...kinds[name] }, { name });
    if (!model) throw new Error('internal: the fixture is broken.');
    const job = { ...moeJob(), model };
    for (const changes of layouts) {
      const program = compileProgram(job, normalizeLayout(job, toyLayout(changes)));
      expect(verifyProgram(program)).toEqual([]);
    }
  });

  it('send k T h w (e - 1) / e bytes four times a layer and micro-batch, and the counts', () => {
    const [layout = {}] = layouts;
    const { exchanges } = bytesSent(programOf(layout)).lists[0] ?? { exchanges: [] };
    const over = (rule: string) => exchanges.find((row) => row.axis === 'expert' && row.rule === rule)?.bytes;
    // 2 layers, 2 micro-batches; 8 tokens a rank, 2 copies of each, 16 values of 2 bytes.
    const way = (2 * 2 * (2 * 8 * 16 * 2 * 3)) / 4;
    expect(over('dispatch-rows')).toBe(2 * way);
    expect(over('return-rows')).toBe(2 * way);
    expect(over('count-rows')).toBe(2 * 2 * 3 * 8 * 4);
  });

  it('reduce experts over their own replicas, in buckets of their own', () => {
    const [list] = programOf(layouts[3] ?? {}).lists;
    const experts = list?.buckets.filter(({ name }) => name.endsWith('.experts')) ?? [];
    expect(experts.flatMap(({ views }) => views.map(({ name }) => name))).toEqual(['experts.fc1.w', 'experts.fc2.w']);
    const reduced = list?.items.flatMap((item) =>
      item.kind === 'operation' && item.operation.kind === 'collective' && item.operation.why.bucket === 'L0.experts'
        ? [item.operation.axis]
        : [],
    );
    expect(new Set(reduced)).toEqual(new Set(['expertData']));
  });

  it('say so when rows do not travel, or their counts are not told', () => {
    const sound = programOf(layouts[0] ?? {});
    const without = (rule: string): Program => ({
      ...sound,
      templates: sound.templates.map((template) => ({
        ...template,
        operations: template.operations.filter(({ kind, why }) => kind !== 'collective' || why.rule !== rule),
      })),
    });
    expect(verifyProgram(without('dispatch-rows')).map(({ code }) => code)).toContain('READ_BEFORE_WRITE');
    expect(verifyProgram(without('count-rows')).map(({ code }) => code)).toContain('READ_BEFORE_WRITE');
  });
});
