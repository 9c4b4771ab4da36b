import { describe, expect, it } from 'vitest';
import { runIn } from '../host.fixture.ts';

describe('meshwright model', () => {
  it('answers in the first line, with a table of blocks below', async () => {
    const { code, out, err } = await runIn(['model', 'llama-3.1-70b']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out.split('\n')[0]).toBe('llama-3.1-70b: 70.6 B parameters, 80 layers, 433 GFLOP per token at length 4,096');
    expect(out).toContain('layers 0-79  64 heads of 128, 8 for keys  28672 gated       855,654,400      80     97.0');
  });

  it('asks for a model where an option is of one', async () => {
    const { code, err } = await runIn(['model', '--tensors']);
    expect({ code, err }).toEqual({
      code: 2,
      err: 'KEY_MISSING  NAME: --tensors is of one model. Name a preset or a file.\n',
    });
  });

  it('gives the object of the contract, schema first', async () => {
    const { out } = await runIn(['model', 'gpt2', '--json', '--tensors', '--length', '1024']);
    const answer = JSON.parse(out);
    expect(Object.keys(answer)[0]).toBe('schema');
    expect(answer).toMatchObject({
      schema: 'meshwright.model/1',
      name: 'gpt2',
      kind: 'gpt2',
      parameters: { total: 124_439_808, active: 124_439_808, mtp: 0 },
      flopsLength: 1024,
      issues: [],
    });
    expect(answer.parameters.perLayer).toHaveLength(12);
    const elements = (shape: readonly number[]) => shape.reduce((product, size) => product * size, 1);
    const sum = answer.tensors.reduce((all: number, each: { shape: number[] }) => all + elements(each.shape), 0);
    expect(sum).toBe(124_439_808);
  });

  it('folds tensors that differ only in their layer, except in a spreadsheet', async () => {
    const folded = await runIn(['model', 'gpt2', '--tensors']);
    expect(folded.out.split('\n').filter((line) => line.includes('c_attn.weight'))).toHaveLength(1);
    const listed = await runIn(['model', 'gpt2', '--tensors', '--format', 'csv']);
    expect(listed.out.split('\n').filter((line) => line.includes('c_attn.weight'))).toHaveLength(12);
  });

  it('lists the presets when it is given no name', async () => {
    const { out } = await runIn(['model', '--json']);
    expect(JSON.parse(out).models.map((each: { name: string }) => each.name)).toContain('llama-3.1-405b');
  });

  it('refuses a length that is no length', async () => {
    const { code, err } = await runIn(['model', 'gpt2', '--length', 'long']);
    expect(code).toBe(2);
    expect(err).toBe('VALUE_OUT_OF_RANGE  --length: long is not a positive whole number. Use 4096.\n');
  });
});
