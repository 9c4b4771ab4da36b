import { type ForcedAlgorithm, runBy } from '@meshwright/core/collectives';
import type { Layout } from '@meshwright/core/layout';
import { worldSize } from '@meshwright/core/mesh';
import { expandList } from '@meshwright/core/program';
import { afterEach, expect, test } from 'vitest';
import { trainProgram } from '../index.ts';
import { type ModelName, programOf, smallJob } from '../parity/layouts.fixture.ts';
import { planFabric } from '../transport/fabric.ts';
import { type ArrayBytes, countArrays } from './count-arrays.fixture.ts';

/** Behind the periods in which memory is filled with what is no number; a run ends by putting whole tensors together. */
const STEPS = 6;
const WARM = 3;

interface Case {
  readonly name: string;
  readonly model: ModelName;
  readonly changes: Partial<Layout>;
  readonly job?: Parameters<typeof smallJob>[1];
  readonly algorithm?: ForcedAlgorithm;
}

const cases: readonly Case[] = [
  { name: 'DDP', model: 'llama', changes: { data: 2 } },
  { name: 'DDP by trees', model: 'gpt2', changes: { data: 4 }, algorithm: 'tree' },
  { name: 'ZeRO-3', model: 'gpt2', changes: { data: 2, sharding: 3 } },
  { name: 'ZeRO-3 in two tiers', model: 'llama', changes: { data: 4, sharding: 3 }, algorithm: 'hierarchical' },
  {
    name: 'ZeRO-2 beside tensor and sequence',
    model: 'llama',
    changes: { tensor: 2, sequenceParallel: true, data: 2, sharding: 2 },
  },
  { name: 'a pipeline with ZeRO-1', model: 'gpt2', changes: { pipeline: 2, data: 2, sharding: 1 } },
  {
    name: 'bf16',
    model: 'gpt2',
    changes: { data: 2, sharding: 1, gradientType: 'bf16' },
    job: { precision: 'bf16' },
  },
  { name: 'state in host memory', model: 'gpt2', changes: { data: 2, sharding: 1, offload: 'optimizer' } },
  { name: 'a ring of contexts', model: 'llama', changes: { context: 2 } },
];

let counted: ReturnType<typeof countArrays> | undefined;
afterEach(() => counted?.restore());

test.each(cases)('a warm step takes the memory of no tensor but from the arena: $name', async (asked) => {
  const compiled = programOf(smallJob(asked.model, asked.job), asked.changes);
  const program = runBy(compiled, asked.algorithm ?? 'ring', 2);
  const steps: ArrayBytes[] = [];
  const counting = countArrays();
  counted = counting;
  await trainProgram(program, { steps: STEPS, inline: true, onStep: () => void steps.push(counting.take()) });
  const [warm, ...others] = steps.slice(WARM, STEPS - 1);
  // Each rank's own accounts: of the bytes that it took, one number for each kind of exchange; of what was live, one for
  // each operation.
  const lists = program.lists.map((list) => expandList(program, list));
  const ranks = worldSize(program.mesh);
  const { ledger } = planFabric(program, lists, ranks, 'float32');
  const operations = lists.reduce((sum, list) => sum + list.operations.length, 0) / lists.length;
  expect(warm?.floats).toBe(8 * ranks * (ledger.length + operations));
  // Tables of whole numbers: tokens of a sample, places, what a query sees. The same in each step.
  for (const other of others) expect(other).toEqual(warm);
});
