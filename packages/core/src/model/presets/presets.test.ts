import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { countParameters } from '../counts.ts';
import { modelFromConfig } from '../read-config.ts';
import { modelFromPreset, type PresetName, presetNames, presets } from './index.ts';

/** The configuration that a preset was read from, among the fixtures. */
const origins: readonly (readonly [PresetName, string])[] = [
  ['tinyllama-1.1b', 'mlc-tinyllama-1b-chat-v1.0'],
  ['smollm-135m', 'mlc-smollm-135m'],
  ['smollm-1.7b', 'mlc-smollm-1-7b'],
  ['codellama-34b', 'mlc-codellama-34b'],
  ['yi-1.5-6b', 'yi-1.5-6b-merge'],
  ['qwen2-1.5b', 'mlc-qwen2-1-5b'],
  ['qwen2-7b', 'mlc-qwen2-7b'],
  ['qwen2.5-3b', 'mlc-qwen2.5-3b'],
  ['qwen1.5-moe-a2.7b', 'mlc-qwen2moe'],
  ['qwen3-0.6b', 'Qwen_Qwen3-0.6B'],
  ['qwen3-1.7b', 'Qwen_Qwen3-1.7B'],
  ['qwen3-8b', 'Qwen_Qwen3-8B'],
  ['qwen3-32b', 'Qwen_Qwen3-32B'],
  ['qwen3-30b-a3b', 'Qwen_Qwen3-30B-A3B'],
  ['qwen3-235b-a22b', 'Qwen_Qwen3-235B-A22B'],
  ['gemma-2b', 'google_gemma-2b'],
  ['gemma-2-2b', 'mlc-gemma2_2b'],
  ['gemma-2-9b', 'mlc-gemma2_9b'],
  ['gemma-3-1b', 'mlc-gemma3_1b_it'],
  ['phi-1.5', 'mlc-phi-1_5'],
  ['phi-3.5-mini', 'mlc-phi-3_5'],
  ['phi-4-mini', 'mlc-phi-4-mini-dims'],
  ['gpt-j-6b', 'mlc-gpt_j'],
  ['gpt-neox-20b', 'reduced-EleutherAI_gpt-neox-20b'],
  ['pythia-160m', 'reduced-EleutherAI_pythia-160m'],
  ['pythia-6.9b', 'reduced-EleutherAI_pythia-6.9b'],
  ['falcon-7b', 'reduced-tiiuae_falcon-7b'],
  ['bloom-176b', 'bigscience_bloom'],
  ['olmo-2-7b', 'mlc-olmo2_7b'],
  ['olmo-2-13b', 'mlc-olmo2_13b'],
  ['internlm2-7b', 'mlc-internlm2'],
  ['mimo-7b', 'XiaomiMiMo_MiMo-7B-Base'],
  ['aya-23-8b', 'mlc-aya-23'],
  ['deepseek-moe-16b', 'mlc-deepseek'],
  ['deepseek-v2-lite', 'mlc-deepseek_v2_lite'],
  ['deepseek-v3', 'deepseek-ai_DeepSeek-V3'],
  ['deepseek-v3.2', 'deepseek-ai_DeepSeek-V3.2'],
  ['kimi-k2', 'moonshotai_Kimi-K2-Instruct'],
  ['glm-5', 'zai-org_GLM-5'],
  ['gpt-oss-20b', 'openai_gpt-oss-20b'],
  ['gpt-oss-120b', 'openai_gpt-oss-120b'],
  ['llama-4-scout', 'meta-llama_Llama-4-Scout-17B-16E-Instruct'],
  ['minimax-m2.5', 'MiniMaxAI_MiniMax-M2.5'],
];

const folder = new URL('../../../../../test/fixtures/configs/', import.meta.url);
const json = (file: string): unknown => JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
const families = json('families.json') as readonly { file: string; config: unknown }[];
const configOf = (file: string): unknown => families.find((each) => each.file === file)?.config ?? json(`${file}.json`);

describe('presets', () => {
  it.each(origins)('%s is the model of its configuration', (name, file) => {
    const read = modelFromConfig(configOf(file), { name }).model;
    expect(read).toBeDefined();
    expect(modelFromPreset(name, 'model').model).toEqual({ ...read, name });
  });
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
    ['llama-3-70b', 70_553_706_496],
    ['llama-3.3-70b', 70_553_706_496],
    ['mistral-nemo-12b', 12_247_782_400],
    ['mistral-small-24b', 23_572_403_200],
    ['qwen2.5-0.5b', 494_032_768],
    ['qwen2.5-1.5b', 1_543_714_304],
    ['qwen2.5-7b', 7_615_616_512],
    ['qwen2.5-14b', 14_770_033_664],
    ['qwen2.5-32b', 32_763_876_352],
    ['qwen2.5-72b', 72_706_203_648],
    ['qwen3-4b', 4_022_468_096],
    ['qwen3-14b', 14_768_307_200],
    ['gemma-2-27b', 27_227_128_320],
    ['gemma-3-27b', 27_009_346_304],
    ['phi-4', 14_659_507_200],
    ['deepseek-v2', 235_741_434_880],
  ])('%s has %i parameters', (name, total) => {
    const { model } = modelFromPreset(name, 'model');
    expect(model && countParameters(model).total).toBe(total);
  });
  it('GLM 4.5 has what its files hold: its module for further tokens has an embedding and a head of its own', () => {
    const { model } = modelFromPreset('glm-4.5', 'model');
    if (!model) throw new Error('internal: no preset.');
    const { total, mtp } = countParameters(model);
    expect(total + mtp + 2 * 151_552 * 5120).toBe(358_337_791_296);
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
