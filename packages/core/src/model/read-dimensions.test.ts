import { describe, expect, it } from 'vitest';
import { modelFromDimensions } from './read-dimensions.ts';

const llama = { kind: 'llama', layers: 2, hidden: 64, heads: 4, ffn: 128, vocab: 100 };
const codes = (value: unknown) => modelFromDimensions(value, 'model').issues.map((each) => `${each.code} ${each.path}`);

describe('dimensions in a job file', () => {
  it('make a toy out of nothing, small enough to follow by hand', () => {
    expect(modelFromDimensions({ kind: 'toy' }, 'model').model).toMatchObject({
      name: 'toy',
      kind: 'gpt2',
      hidden: 8,
      vocabulary: 16,
      learnedPositions: 4,
      tied: true,
    });
  });
  it('keep four times the width for a toy that is given another width', () => {
    const { model } = modelFromDimensions({ kind: 'toy', hidden: 16, layers: 1 }, 'model');
    expect(model?.layers.map((layer) => layer.ffn.width)).toEqual([64]);
  });
  it('take a name', () => {
    expect(modelFromDimensions({ ...llama, name: 'mine' }, 'model').model?.name).toBe('mine');
  });
  it('make experts of a mixtral', () => {
    const { model } = modelFromDimensions({ ...llama, kind: 'mixtral', experts: 4, topK: 1 }, 'model');
    expect(model?.layers[0]?.ffn).toMatchObject({ kind: 'moe', experts: 4, topK: 1, width: 128 });
  });
  it('ask for every key that is missing', () => {
    expect(codes({})).toEqual([
      'KEY_MISSING model.kind',
      'KEY_MISSING model.layers',
      'KEY_MISSING model.hidden',
      'KEY_MISSING model.heads',
      'KEY_MISSING model.vocab',
    ]);
    const { ffn, ...rest } = llama;
    expect(ffn).toBe(128);
    expect(codes(rest)).toEqual(['KEY_MISSING model.ffn']);
  });
  it('suggest the nearest key and kind', () => {
    const { issues } = modelFromDimensions({ ...llama, kind: 'lama', hiden: 3 }, 'model');
    expect(issues.map((each) => [each.path, each.hint])).toEqual([
      ['model.hiden', 'Did you mean hidden?'],
      ['model.kind', 'Did you mean llama?'],
    ]);
  });
  it.each([
    [{ ...llama, experts: 8 }, 'MODEL_CONTRADICTS model.experts'],
    [{ ...llama, kind: 'mixtral', experts: 2, topK: 3 }, 'TOP_K_OVER_EXPERTS model.topK'],
    [{ ...llama, kind: 'mixtral', mlpBias: true }, 'MODEL_CONTRADICTS model.mlpBias'],
    [{ ...llama, headSize: 5 }, 'HEAD_SIZE_ODD model.headSize'],
    [{ ...llama, heads: 3 }, 'HEAD_SIZE_NOT_WHOLE model.heads'],
    [{ ...llama, kvHeads: 8 }, 'KV_HEADS_NOT_DIVISOR model.kvHeads'],
    [{ ...llama, layers: 1.5 }, 'VALUE_WRONG_TYPE model.layers'],
    [{ ...llama, layers: 0 }, 'VALUE_OUT_OF_RANGE model.layers'],
    [{ ...llama, layers: 513 }, 'VALUE_OUT_OF_RANGE model.layers'],
    [{ ...llama, vocab: Number.POSITIVE_INFINITY }, 'VALUE_OUT_OF_RANGE model.vocab'],
    [{ ...llama, tied: 'yes' }, 'VALUE_WRONG_TYPE model.tied'],
    [{ ...llama, activation: 'relux' }, 'VALUE_UNKNOWN model.activation'],
    [{ ...llama, layers: 512, hidden: 2 ** 20, ffn: 2 ** 22, vocab: 9 }, 'MODEL_TOO_LARGE model.layers'],
    ['llama', 'VALUE_WRONG_TYPE model'],
  ])('refuse what does not fit: %j', (value, expected) => {
    expect(codes(value)).toEqual([expected]);
  });
});
