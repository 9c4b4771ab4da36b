import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildModel } from '../build.ts';
import { checkDimensions } from '../check.ts';
import { countParameters, elementsOf } from '../counts.ts';
import type { ModelDimensions } from '../dimensions.ts';
import { flopsPerToken } from '../flops.ts';
import { modelFromPreset, type PresetName } from '../presets/index.ts';
import { toyDimensions } from '../read-dimensions.ts';
import type { ModelSpec } from '../types.ts';
import { blockParameters, hfTensors, parametersOf } from './index.ts';

const small = (max: number) => fc.integer({ min: 1, max });
const dimensions: fc.Arbitrary<ModelDimensions> = fc
  .record({
    kind: fc.constantFrom('gpt2' as const, 'llama' as const, 'mixtral' as const),
    layers: small(4),
    groups: small(4),
    kvHeads: small(3),
    halfHead: small(4),
    hidden: small(40),
    ffn: small(50),
    vocab: small(60),
    positions: small(30),
    experts: small(5),
    tied: fc.boolean(),
    qkvBias: fc.boolean(),
    outBias: fc.boolean(),
    mlpBias: fc.boolean(),
  })
  .map(({ groups, halfHead, experts, mlpBias, ...rest }) => ({
    ...rest,
    heads: groups * rest.kvHeads,
    headSize: 2 * halfHead,
    ...(rest.kind === 'mixtral' ? { experts, topK: 1 } : { mlpBias }),
  }));
const models = dimensions.map((each) => buildModel(each, 'any'));
const product = (shape: readonly number[]): number => shape.reduce((all, size) => all * size, 1);
const preset = (name: PresetName): ModelSpec => {
  const { model } = modelFromPreset(name, 'model');
  if (!model) throw new Error(`no model ${name}`);
  return model;
};

describe('parameters of any model', () => {
  it('come from dimensions that are valid', () => {
    fc.assert(
      fc.property(dimensions, (each) => {
        expect(checkDimensions(each, (key) => key)).toEqual([]);
      }),
    );
  });
  it('cover every Hugging Face tensor exactly once', () => {
    fc.assert(
      fc.property(models, (model) => {
        const covered = parametersOf(model).flatMap((each) => each.tensors.map(({ name }) => name));
        expect(new Set(covered).size).toBe(covered.length);
        expect(covered).toEqual(hfTensors(model).map(({ name }) => name));
      }),
    );
  });
  it('hold as many elements as their tensors, one by one', () => {
    fc.assert(
      fc.property(models, (model) => {
        for (const each of parametersOf(model)) {
          expect(elementsOf(each)).toBe(each.tensors.reduce((sum, { shape }) => sum + product(shape), 0));
        }
      }),
    );
  });
  it('fuse parts that add up to the dim, each as long as its tensor', () => {
    fc.assert(
      fc.property(models, (model) => {
        for (const { dims, tensors, name } of parametersOf(model)) {
          for (const { parts, size } of dims) {
            if (!parts) continue;
            expect(parts.reduce((sum, part) => sum + part, 0)).toBe(size);
            if (tensors.length === parts.length) expect(tensors.map(({ shape }) => shape[0])).toEqual(parts);
            else expect(name.startsWith('experts.') || tensors[0]?.transposed || model.kind === 'gpt2').toBe(true);
          }
        }
      }),
    );
  });
  it('sum to the counts, block by block', () => {
    fc.assert(
      fc.property(models, (model) => {
        const counts = countParameters(model);
        const all = hfTensors(model).reduce((sum, { shape }) => sum + product(shape), 0);
        expect(counts.total).toBe(all);
        expect(counts.embedding + counts.head + counts.perLayer.reduce((sum, each) => sum + each, 0)).toBe(all);
        expect(counts.active).toBeLessThanOrEqual(all);
      }),
    );
  });
  it('decay when they are matrices and not when they are norms or biases', () => {
    fc.assert(
      fc.property(models, (model) => {
        for (const each of parametersOf(model)) expect(each.decay).toBe(each.dims.length > 1);
      }),
    );
  });
});

describe('parts of known models', () => {
  it('a GPT layer has 12 h^2 + 13 h', () => {
    const model = buildModel(toyDimensions, 'toy');
    expect(countParameters(model)).toEqual({
      total: 1920,
      active: 1920,
      trainable: 1920,
      embedding: 160,
      head: 16,
      perLayer: [872, 872],
      mtp: 0,
    });
  });
  it('are named as the step program names them', () => {
    const names = (name: PresetName, block: 'embed' | 'head' | number) =>
      blockParameters(preset(name), block).map((each) => each.name);
    expect(names('gpt2', 'embed')).toEqual(['wte', 'wpe']);
    expect(names('gpt2', 0).join(' ')).toBe(
      'ln1.w ln1.b qkv.w qkv.b proj.w proj.b ln2.w ln2.b fc1.w fc1.b fc2.w fc2.b',
    );
    expect(names('gpt2', 'head')).toEqual(['lnf.w', 'lnf.b']);
    expect(names('llama-2-7b', 3).join(' ')).toBe('ln1.w qkv.w proj.w ln2.w fc1.w fc2.w');
    expect(names('mixtral-8x7b', 3).join(' ')).toBe('ln1.w qkv.w proj.w ln2.w router.w experts.fc1.w experts.fc2.w');
    expect(names('llama-2-7b', 'head')).toEqual(['lnf.w', 'lm.w']);
  });
  it('name the tensors that Hugging Face names', () => {
    const shapes = new Map(hfTensors(preset('llama-3.1-8b')).map(({ name, shape }) => [name, shape]));
    expect(shapes.get('model.layers.31.self_attn.k_proj.weight')).toEqual([1024, 4096]);
    expect(shapes.get('lm_head.weight')).toEqual([128_256, 4096]);
    const gpt = new Map(hfTensors(preset('gpt2')).map(({ name, shape }) => [name, shape]));
    expect(gpt.get('transformer.h.0.attn.c_attn.weight')).toEqual([768, 2304]);
    expect(gpt.get('transformer.h.11.mlp.c_proj.weight')).toEqual([3072, 768]);
    expect(gpt.has('lm_head.weight')).toBe(false);
    const experts = hfTensors(preset('mixtral-8x7b')).filter(({ name }) => name.includes('layers.0.block_sparse_moe'));
    expect(experts.map(({ name }) => name.split('block_sparse_moe.')[1]).slice(0, 4)).toEqual([
      'gate.weight',
      'experts.0.w1.weight',
      'experts.0.w3.weight',
      'experts.1.w1.weight',
    ]);
  });
  it('a token of Mixtral passes through two of eight experts', () => {
    const { total, active } = countParameters(preset('mixtral-8x7b'));
    expect(total).toBe(46_702_792_704);
    expect(active).toBe(12_879_925_248);
  });
});

describe('FLOPs per token', () => {
  it('are 6 per parameter that multiplies, plus 6 s h per layer of causal attention', () => {
    const model = preset('llama-2-7b');
    const multiplying = 32 * (4 * 4096 ** 2 + 3 * 4096 * 11_008) + 32_000 * 4096;
    expect(flopsPerToken(model, 4096)).toBe(6 * multiplying + 6 * 4096 * 4096 * 32);
  });
  it('equal half the attention of the formula of Narayanan et al. 2021 without recomputation', () => {
    const [layers, h, s, v] = [128, 25_600, 2048, 51_200];
    const paper = 72 * layers * h ** 2 * (1 + s / (6 * h) / 2 + v / (12 * layers * h));
    expect(flopsPerToken(preset('gpt-1t-narayanan'), s) / paper).toBeCloseTo(1, 12);
  });
  it('count the experts of one token and the router', () => {
    const dense = buildModel({ ...toyDimensions, kind: 'llama', headSize: 4, tied: false }, 'dense');
    const sparse = buildModel(
      { ...toyDimensions, kind: 'mixtral', headSize: 4, tied: false, experts: 4, topK: 1 },
      'moe',
    );
    expect(flopsPerToken(sparse, 4) - flopsPerToken(dense, 4)).toBe(3 * 2 * (2 * 8 * 4));
  });
});
