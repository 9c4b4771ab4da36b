import { describe, expect, it } from 'vitest';
import { countParameters } from './counts.ts';
import { modelFromPreset, presetNames, presets } from './presets.ts';

describe('presets', () => {
  it.each([
    ['llama-2-7b', 6_738_415_616],
    ['llama-2-13b', 13_015_864_320],
    ['llama-2-70b', 68_976_648_192],
    ['llama-3-8b', 8_030_261_248],
    ['llama-3.1-8b', 8_030_261_248],
    ['llama-3.1-70b', 70_553_706_496],
    ['llama-3.1-405b', 405_853_388_800],
    ['llama-3.2-1b', 1_235_814_400],
    ['llama-3.2-3b', 3_212_749_824],
    ['mistral-7b', 7_241_732_096],
    ['mixtral-8x7b', 46_702_792_704],
    ['mixtral-8x22b', 140_620_634_112],
    ['gpt2', 124_439_808],
    ['gpt2-medium', 354_823_168],
    ['gpt2-large', 774_030_080],
    ['gpt2-xl', 1_557_611_200],
    ['gpt3-175b', 174_604_259_328],
    ['gpt-1t-narayanan', 1_008_038_758_400],
  ])('%s has %i parameters', (name, total) => {
    const { model } = modelFromPreset(name, 'model');
    expect(model && countParameters(model).total).toBe(total);
  });
  it('all state where they come from and when', () => {
    for (const name of presetNames) {
      expect(presets[name].source).toMatch(/\[[\w-]+\]/);
      expect(presets[name].asOf).toMatch(/^20\d\d-\d\d$/);
    }
  });
  it('are frozen', () => {
    const { model } = modelFromPreset('gpt2', 'model');
    expect(Object.isFrozen(model) && Object.isFrozen(model?.layers) && Object.isFrozen(model?.layers[0])).toBe(true);
  });
  it('suggest the nearest name', () => {
    expect(modelFromPreset('lama-2-7b', 'model').issues).toMatchObject([
      { code: 'VALUE_UNKNOWN', path: 'model', hint: 'Did you mean llama-2-7b?' },
    ]);
    expect(modelFromPreset('constructor', 'model').issues[0]?.code).toBe('VALUE_UNKNOWN');
  });
  it('keep the window of Mistral in every layer', () => {
    const { model, issues } = modelFromPreset('mistral-7b', 'model');
    expect(issues).toEqual([]);
    expect(model?.layers.every(({ attention }) => attention.window === 4096)).toBe(true);
  });
});
