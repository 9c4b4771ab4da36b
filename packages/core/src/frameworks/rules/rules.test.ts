import { describe, expect, it } from 'vitest';
import { attentionCases } from './cases/attention.fixture.ts';
import { batchCases } from './cases/batch.fixture.ts';
import { degreesCases } from './cases/degrees.fixture.ts';
import { expertsCases } from './cases/experts.fixture.ts';
import { layersCases } from './cases/layers.fixture.ts';
import { recomputeCases } from './cases/recompute.fixture.ts';
import type { RuleCase } from './cases/rule-case.fixture.ts';
import { schedulesCases } from './cases/schedules.fixture.ts';
import { shardingCases } from './cases/sharding.fixture.ts';
import { switchesCases } from './cases/switches.fixture.ts';
import { checkSetup, type FrameworkSetup, frameworkRules, rulesByFramework } from './index.ts';

const cases: readonly RuleCase[] = [
  ...degreesCases,
  ...expertsCases,
  ...batchCases,
  ...attentionCases,
  ...layersCases,
  ...recomputeCases,
  ...schedulesCases,
  ...shardingCases,
  ...switchesCases,
];

describe.each(cases)('$code in $framework', ({ code, framework, breaks, passes, says }) => {
  const found = (setup: FrameworkSetup) => checkSetup(framework, setup).filter((each) => each.code === code);
  it('is said when it is broken, with place, values and what to do', () => {
    expect(found(breaks).map((each) => `${each.path}: ${each.message} ${each.hint}`)).toEqual([says]);
  });
  it('just passes', () => {
    expect(found({ ...breaks, ...passes })).toEqual([]);
  });
  it('is content with the values that it names', () => {
    for (const { path, values } of found(breaks)) {
      const key = path.split('.').at(-1) ?? '';
      const fits = values?.['fits'];
      for (const fit of Array.isArray(fits) ? fits : []) {
        const mended =
          breaks.switches && key in breaks.switches
            ? { ...breaks, switches: { ...breaks.switches, [key]: fit } }
            : { ...breaks, [key]: fit };
        expect({ fit, codes: found(mended).map((each) => each.path) }).toEqual({ fit, codes: [] });
      }
    }
  });
});

it('has a case for every row of the table, in a framework of the row', () => {
  const asked = frameworkRules.map((rule) =>
    cases.some(
      ({ code, framework, breaks }) =>
        rule.code === code &&
        rule.frameworks.includes(framework) &&
        rule.reads.every((key) => key in breaks || key in (breaks.switches ?? {})),
    ),
  );
  expect(frameworkRules.filter((_, index) => !asked[index]).map(({ code, frameworks }) => [code, frameworks])).toEqual(
    [],
  );
});

it('names a source for every row, and no framework twice', () => {
  for (const { source, frameworks } of frameworkRules) {
    expect(source.length).toBeGreaterThan(10);
    expect(new Set(frameworks).size).toBe(frameworks.length);
  }
  expect(rulesByFramework.meshwright).toEqual([]);
});

describe('what users take for wrong and is not', () => {
  it('expert ranks may be more than data ranks: 32 GPUs, context 16, data 2, expert 32', () => {
    const setup = { gpus: 32, tensor: 1, pipeline: 1, context: 16, data: 2, expert: 32, experts: 32, expertTensor: 1 };
    expect(checkSetup('megatron', setup)).toEqual([]);
    expect(checkSetup('torchtitan', setup)).toEqual([]);
  });
  it('torchtitan takes 3 micro-batches over 4 stages', () => {
    const setup = {
      layers: 32,
      pipeline: 4,
      chunks: 2,
      schedule: 'interleaved-1f1b',
      sequences: 3,
      microBatch: 1,
      data: 1,
    };
    expect(checkSetup('torchtitan', setup)).toEqual([]);
  });
  it('layers that embedding and loss make even: 6 over 4 stages of 2 chunks', () => {
    const switches = { countsEmbedding: true, countsLoss: true };
    expect(checkSetup('megatron', { layers: 6, pipeline: 4, chunks: 2, switches })).toEqual([]);
    expect(checkSetup('megatron', { layers: 6, pipeline: 4, chunks: 2 }).map(({ code }) => code)).toEqual([
      'LAYERS_NOT_DIVISIBLE',
    ]);
  });
  it('nothing is said of what is unknown', () => {
    for (const framework of ['megatron', 'torchtitan', 'deepspeed', 'fsdp', 'nanotron'] as const) {
      expect(checkSetup(framework, {}).map(({ code }) => code)).toEqual([]);
    }
  });
});
