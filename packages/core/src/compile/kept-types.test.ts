import { describe, expect, it } from 'vitest';
import type { Job, ProductRecipe } from '../job/index.ts';
import { degreesOf, expandList, lifetimesOf, type Program, verifyProgram } from '../program/index.ts';
import { bytesOf } from '../tensor/index.ts';
import { compileProgram } from './index.ts';
import { toyJob, toyLayout } from './toy.fixture.ts';

const jobOf = (changes: Partial<Job> = {}): Job => ({ ...toyJob(), ...changes });

const alone = toyLayout({ tensor: 1, pipeline: 1, data: 1, expertTensor: 1, layersPerStage: [2], schedule: 'none' });

const programOf = (changes: Partial<Job>, layout = alone): Program => compileProgram(jobOf(changes), layout);

const typeOf = (program: Program, name: string) => program.buffers.find((each) => each.name === name)?.dtype;

const withProducts = (products: ProductRecipe): Partial<Job> => ({
  kernels: { attention: 'flash', dropout: 0, products },
});

/** Largest bytes of logits and their gradient that are alive together, for each logit of a micro-batch. */
function bytesOfLogit(program: Program): number {
  const [list] = program.lists;
  if (list === undefined) throw new Error('no list');
  const { ranges } = lifetimesOf(expandList(program, list), degreesOf(program));
  const logits = ranges.filter(({ instance }) => instance.declaration.role === 'logits');
  const at = (index: number): number =>
    logits.reduce((sum, { first, last, bytes }) => sum + (first <= index && index <= last ? bytes : 0), 0);
  return Math.max(...logits.flatMap(({ first, last }) => [at(first), at(last)])) / (4 * 16);
}

describe('inputs of narrow products', () => {
  it.each([
    ['fp8-delayed', 'fp8'],
    ['fp8-current', 'fp8'],
    ['mxfp8', 'mxfp8'],
    ['nvfp4', 'nvfp4'],
  ] as const)('of %s stay in %s, and what attention and the residual read stays as it is', (products, kept) => {
    const program = programOf(withProducts(products));
    expect(verifyProgram(program)).toEqual([]);
    for (const name of ['n1', 'n2', 'ge', 'oq']) expect(typeOf(program, name)).toBe(kept);
    for (const name of ['qkv', 'o', 'f', 'r']) expect(typeOf(program, name)).toBe('bf16');
  });
  it('are cast again in backward where the framework keeps 16 bit', () => {
    const program = programOf({ ...withProducts('fp8-current'), framework: 'torchtitan' });
    for (const name of ['n1', 'ge', 'o']) expect(typeOf(program, name)).toBe('bf16');
    expect(typeOf(program, 'oq')).toBeUndefined();
  });
  it('are gathered over tensor as they are kept', () => {
    const program = programOf(withProducts('mxfp8'), toyLayout());
    expect(verifyProgram(program)).toEqual([]);
    expect(typeOf(program, 'n1g')).toBe('mxfp8');
  });
  it('hold the scales of their blocks', () => {
    expect(bytesOf('mxfp8') * 32).toBe(33);
    expect(bytesOf('nvfp4') * 16).toBe(9);
  });
});

describe('logits', () => {
  it.each([
    ['fp32', 8],
    ['native', 6],
    ['half', 4],
    ['in-place', 2],
  ] as const)('under the plan %s take %i bytes each', (loss, bytes) => {
    const program = programOf({ kernels: { attention: 'flash', dropout: 0, loss } });
    expect(verifyProgram(program)).toEqual([]);
    expect(bytesOfLogit(program)).toBe(bytes);
  });
  it('are kept as the framework does where the job says nothing', () => {
    expect(bytesOfLogit(programOf({ framework: 'megatron' }))).toBe(6);
    expect(bytesOfLogit(programOf({ framework: 'nemo' }))).toBe(2);
    expect(bytesOfLogit(programOf({}))).toBe(8);
  });
});
