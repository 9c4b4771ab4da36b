import { compileProgram } from '@meshwright/core/compile';
import type { Layout } from '@meshwright/core/layout';
import { coordinateOf } from '@meshwright/core/mesh';
import type { Program, RankList } from '@meshwright/core/program';
import { degreesOf, expandList, lifetimesOf } from '@meshwright/core/program';
import { laneOf, sliceOf } from '@meshwright/core/timeline';
import { afterAll, describe, expect, test } from 'vitest';
import { createRankPool, trainProgram } from '../index.ts';
import type { Elements } from '../kernels/tensor.ts';
import { mix } from '../numbers/hash.ts';
import { families } from '../parity/families.fixture.ts';
import { layoutOf, type ModelName, programOf, smallJob } from '../parity/layouts.fixture.ts';
import { bytesByAxis, compareBytes } from '../parity/moved-bytes.ts';
import type { TensorSet } from './assemble.ts';
import { exampleJob } from './example.fixture.ts';

const pool = createRankPool();
afterAll(() => pool.close());

describe('the worked example in bf16', () => {
  const program = compileProgram(
    exampleJob(),
    layoutOf(exampleJob(), { tensor: 2, pipeline: 2, data: 2, sharding: 1, sequenceParallel: true }),
  );

  test('moves 24,656 bytes in a step, by axis as its table says', async () => {
    const run = await trainProgram(program, { steps: 1, pool });
    expect(run.stopped).toBe('done');
    expect(bytesByAxis(run)).toEqual({
      tensor: 4 * 1_092 + 4 * 1_124,
      pipeline: 8 * 324,
      data: 4 * 1_672 + 4 * 1_628,
    });
    expect(compareBytes(program, run, 1)).toEqual([]);
  });

  test('learns what fp32 learns to the precision of bf16', async () => {
    const options = { steps: 8, pool, initialDeviation: 0.2, learningRate: 0.01 };
    const run = await trainProgram(program, options);
    const job = { ...exampleJob(), precision: 'fp32' } as const;
    const wanted = await trainProgram(compileProgram(job, layoutOf(job)), options);
    run.losses.forEach((loss, step) => {
      expect(loss).not.toBe(wanted.losses[step]);
      expect(Math.abs(loss / wanted.losses[step]! - 1)).toBeLessThan(0.01);
    });
  });
});

describe('bf16 weights and gradients', () => {
  const job = exampleJob();
  const layouts: readonly (readonly [name: string, changes: Partial<Layout>])[] = [
    ['DDP', { data: 4 }],
    ['ZeRO-2', { data: 2, sharding: 2 }],
    ['ZeRO-3 with tensor and pipeline', { tensor: 2, pipeline: 2, data: 2, sharding: 3, sequenceParallel: true }],
  ];
  test.each(layouts)('%s trains as one rank does to the precision of bf16', async (_name, changes) => {
    const options = { steps: 4, pool, initialDeviation: 0.2, learningRate: 0.01 };
    const compiled = (some: Partial<Layout>) => compileProgram(job, layoutOf(job, { gradientType: 'bf16', ...some }));
    const program = compiled(changes);
    const run = await trainProgram(program, options);
    const one = await trainProgram(compiled({}), options);
    run.losses.forEach((loss, step) => {
      expect(Math.abs(loss / one.losses[step]! - 1)).toBeLessThan(0.01);
    });
    expect(compareBytes(program, run, 4)).toEqual([]);
    expect(run.memory.flatMap(({ differs }) => differs)).toEqual([]);
    expect(Object.values(run.parameters).every(({ spread }) => spread === 0)).toBe(true);
  });

  test('fp16 is refused by name', async () => {
    const program = compileProgram({ ...job, precision: 'fp16' }, layoutOf(job));
    await expect(trainProgram(program, { steps: 1, inline: true })).rejects.toThrow('TYPE_NOT_EXECUTED');
  });
});

const kinds = ['gpt2', 'llama', ...Object.keys(families)] as ModelName[];

/** Signs by a hash of the element, scaled by what each tensor's gradient is in the mean: every tensor changes the loss about
 * equally, so that none hides behind another. Without the tensors that have no gradient but rounding. */
function directionOf(gradients: TensorSet, seed: number): ReadonlyMap<string, Float64Array> {
  const rootMeanSquare = (data: Elements) => Math.hypot(...data) / Math.sqrt(data.length);
  const largest = Math.max(...Object.values(gradients).map(({ data }) => rootMeanSquare(data)));
  const direction = new Map<string, Float64Array>();
  for (const [place, [name, { data }]] of Object.entries(gradients).entries()) {
    const mean = rootMeanSquare(data);
    if (mean < 1e-9 * largest) continue;
    const size = 1 / (mean * Math.sqrt(data.length));
    direction.set(
      name,
      Float64Array.from(data, (_, index) => (mix(mix(seed, place), index) % 2 === 0 ? size : -size)),
    );
  }
  return direction;
}

test.each(kinds)(
  'the gradient of the unsharded program is that of finite differences of the loss: %s',
  async (model) => {
    const program = programOf(smallJob(model));
    const options = { inline: true, arithmetic: 'float64', initialDeviation: 0.25 } as const;
    const { parameters } = await trainProgram(program, { ...options, steps: 0 });
    const { gradients } = await trainProgram(program, { ...options, steps: 1, captureGradients: [1] });
    for (const seed of [1, 2]) {
      const direction = directionOf(gradients[1]!, seed);
      expect(direction.size).toBeGreaterThan(0.8 * Object.keys(parameters).length);
      // So small that no token changes its experts.
      const step = 1e-6 / Math.max(...[...direction.values()].map((along) => Math.abs(along[0]!)));
      const lossAt = async (sign: number): Promise<number> => {
        const moved = [...direction].map(([name, along]) => {
          const from = parameters[name]!.data;
          return [name, along.map((each, index) => from[index]! + sign * step * each)] as const;
        });
        return (await trainProgram(program, { ...options, steps: 1, initial: Object.fromEntries(moved) })).losses[0]!;
      };
      const slopes = [...direction].map(([name, along]) =>
        along.reduce((sum, each, index) => sum + each * gradients[1]![name]!.data[index]!, 0),
      );
      const slope = slopes.reduce((sum, each) => sum + each, 0);
      const difference = ((await lossAt(1)) - (await lossAt(-1))) / (2 * step);
      expect(Math.abs(difference - slope) / Math.hypot(...slopes)).toBeLessThan(1e-5);
    }
  },
);

test('in double precision layouts differ by rounding only', async () => {
  const job = smallJob('gpt2');
  const options = { steps: 2, inline: true, arithmetic: 'float64', initialDeviation: 0.25 } as const;
  const one = await trainProgram(programOf(job), options);
  const layout = { tensor: 2, pipeline: 2, data: 2, sharding: 3, sequenceParallel: true } as const;
  const many = await trainProgram(programOf(job, layout), options);
  many.losses.forEach((loss, step) => {
    expect(Math.abs(loss / one.losses[step]! - 1)).toBeLessThan(1e-12);
  });
});

test('the timeline holds every operation of every rank once, in order on its lane', async () => {
  const program = programOf(smallJob('llama'), { pipeline: 2, data: 2, sharding: 3 });
  const { timeline, moves, held, bytes } = await trainProgram(program, { steps: 2, pool });
  bytes.forEach((all, rank) => {
    const sent = moves.filter(({ from }) => from === rank).reduce((sum, move) => sum + move.bytes, 0);
    expect(2 * sent).toBe(all.reduce((sum, each) => sum + each.bytes, 0));
    const expanded = expandList(program, program.lists[coordinateOf(program.mesh, rank).pipeline]!);
    expect(Array.from(held[rank]!)).toEqual([...lifetimesOf(expanded, degreesOf(program)).live]);
  });
  const lengths = program.lists.map((list) => expandList(program, list).operations.length);
  expect(timeline.length).toBe(2 * lengths.reduce((sum, length) => sum + length, 0));
  for (let rank = 0; rank < 4; rank++) {
    for (const lane of timeline.lanes) {
      const slices = laneOf(timeline, rank, lane).map((index) => sliceOf(timeline, index));
      for (const [index, slice] of slices.entries()) {
        const next = slices[index + 1];
        if (next) expect(next.operation).toBeGreaterThan(slice.operation);
        if (next) expect(next.start).toBeGreaterThanOrEqual(slice.end);
      }
    }
  }
});

describe('a run that cannot go on', () => {
  const program = programOf(smallJob('llama'), { pipeline: 2, data: 2 });
  const withList = (change: (list: RankList) => RankList): Program => ({
    ...program,
    lists: program.lists.map((list) => (list.pipeline === 1 ? change(list) : list)),
  });
  const muted = withList((list) => {
    const last = list.items.findLast((item) => item.kind === 'operation' && item.operation.kind === 'send');
    return { ...list, items: list.items.filter((item) => item !== last) };
  });

  test('says which rank failed at which operation and why, and stops all', async () => {
    const broken: Program = {
      ...program,
      templates: program.templates.map((template) => ({
        ...template,
        operations: template.operations.map((operation) =>
          operation.kind === 'compute' && operation.kernel === 'gated'
            ? { ...operation, attributes: { function: 'sigmoid' } }
            : operation,
        ),
      })),
    };
    const { stopped } = await trainProgram(broken, { steps: 1, pool });
    expect(stopped).toMatchObject({
      operation: expect.stringContaining('gated f['),
      reason: expect.stringContaining("'sigmoid'"),
    });
  });

  test('says what it waits for when a message never comes', async () => {
    const missing = { rank: expect.any(Number), for: expect.stringContaining('recv') };
    const threads = await trainProgram(muted, { steps: 1, pool, patienceMs: 500 });
    expect(threads.stopped).toMatchObject({ reason: expect.stringContaining('nothing came for 0.5 s') });
    const inline = await trainProgram(muted, { steps: 1, inline: true });
    expect(inline.stopped).toMatchObject({ reason: 'no rank can move' });
    expect(inline.stopped).toMatchObject({ waiting: expect.arrayContaining([missing]) });
  });

  test('stops all ranks when one dies, and the pool is whole again for the next run', async () => {
    let killed: Promise<void> | undefined;
    const onStep = (): void => {
      killed ??= pool.terminate(3);
    };
    const { stopped, losses } = await trainProgram(program, { steps: 100_000, pool, onStep });
    await killed;
    expect(stopped).toMatchObject({ rank: 3, reason: expect.stringContaining('ended') });
    expect(losses.length).toBeGreaterThan(0);
    expect((await trainProgram(program, { steps: 1, pool })).stopped).toBe('done');
  });
});
