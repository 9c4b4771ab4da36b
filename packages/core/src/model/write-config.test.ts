import { describe, expect, it } from 'vitest';
import { withAdapters } from './adapters.ts';
import { modelFromConfig } from './read-config.ts';
import { modelFromDimensions } from './read-dimensions.ts';
import { adapterConfigOf, configOf } from './write-config.ts';

const sizes = { layers: 3, hidden: 48, heads: 4, vocab: 96 } as const;
const read = (dimensions: object) => {
  const { model } = modelFromDimensions({ ...sizes, ...dimensions }, 'model');
  if (!model) throw new Error('internal: the fixture is broken.');
  return model;
};

describe('the configuration of a model', () => {
  it.each([
    { kind: 'gpt2', ffn: 100, positions: 32 },
    { kind: 'gpt2', positions: 32, tied: false },
    { kind: 'llama', kvHeads: 2, ffn: 80 },
    { kind: 'llama', kvHeads: 4, ffn: 80, tied: true },
    { kind: 'mixtral', kvHeads: 2, ffn: 40, experts: 4, topK: 2 },
  ])('reads back as the very model: %o', (dimensions) => {
    const { lengthAssumed: _, ...model } = read(dimensions);
    const config = configOf(model);
    expect(config).toBeDefined();
    expect(modelFromConfig(config ?? {}, { name: model.name }).model).toEqual(model);
  });

  it('is that of the base beside adapters, whose own says rank, factor and targets', () => {
    const model = read({ kind: 'gpt2', positions: 32 });
    const adapted = withAdapters(model, { rank: 4, alpha: 8, targets: ['c_attn', 'mlp.c_proj'] });
    expect(configOf(adapted)).toEqual(configOf(model));
    expect(adapterConfigOf(model)).toBeUndefined();
    const wanted = { peft_type: 'LORA', r: 4, lora_alpha: 8, target_modules: ['c_attn', 'mlp.c_proj'] };
    expect(adapterConfigOf(adapted)).toMatchObject({ ...wanted, fan_in_fan_out: true });
    const all = withAdapters(read({ kind: 'llama', ffn: 80 }), { rank: 2, alpha: 2, targets: ['all-linear'] });
    const linear = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'];
    expect(adapterConfigOf(all)).toMatchObject({ target_modules: linear, fan_in_fan_out: false });
  });

  it('is not written where it would state another model', () => {
    const model = read({ kind: 'llama', kvHeads: 2, ffn: 80 });
    const [first, ...rest] = model.layers;
    if (!first) throw new Error('internal: the fixture is broken.');
    const windowed = { ...first, attention: { ...first.attention, window: 8 } };
    expect(configOf({ ...model, layers: [windowed, ...rest] })).toBeUndefined();
    expect(configOf({ ...model, kind: 'phi' })).toBeUndefined();
  });
});
