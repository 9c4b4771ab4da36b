import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Program } from '@meshwright/core/program';
import { expandList } from '@meshwright/core/program';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  completeSteps,
  type Drill,
  loadCheckpoint,
  type RunResult,
  type Supervised,
  superviseProgram,
  trainProgram,
} from '../index.ts';
import { mix } from '../numbers/hash.ts';
import { programOf, smallJob } from '../parity/layouts.fixture.ts';

const scratch = mkdtempSync(join(tmpdir(), 'meshwright-faults-'));
afterAll(() => rmSync(scratch, { recursive: true }));
const freshFolder = (): string => mkdtempSync(join(scratch, 'run-'));

/** All of them by `npm run test:long`, a tenth otherwise. */
const INSTANTS = process.env['MESHWRIGHT_LONG'] ? 50 : 5;
const STEPS = 8;
const EVERY = 2;

const job = smallJob('gpt2');
const program = programOf(job, { tensor: 2, pipeline: 2, sequenceParallel: true });
const another = programOf(job, { data: 2, sharding: 3 });
const options = { steps: STEPS, seed: 11, initialDeviation: 0.25, learningRate: 0.01 } as const;

let sound: RunResult;
beforeAll(async () => {
  sound = await trainProgram(program, { ...options, inline: true });
});

/** Every checkpoint that is there is whole, and runs from the last one on have the losses of the sound run. */
async function expectResumes(folder: string): Promise<void> {
  for (const step of completeSteps(folder)) expect(loadCheckpoint(folder, step).manifest.step).toBe(step);
  const last = completeSteps(folder).at(-1) ?? 0;
  const from = last === 0 ? {} : { from: loadCheckpoint(folder) };
  const settings = { ...options, inline: true, ...from } as const;
  const rest = await trainProgram(program, settings);
  expect(rest.losses).toEqual(sound.losses.slice(last));
  const elsewhere = await trainProgram(another, settings);
  elsewhere.losses.forEach((loss, index) => {
    expect(Math.abs(loss / sound.losses[last + index]! - 1)).toBeLessThan(1e-6);
  });
}

const draw = (seed: number, what: number, below: number): number => mix(mix(seed, 0xfa17), what) % below;

function drillOf(seed: number, of: Program): Drill {
  const acts = ['throw', 'exit', 'kill'] as const;
  const rank = draw(seed, 1, 4);
  const list = of.lists[rank < 2 ? 0 : 1]!;
  const operations = expandList(of, list).operations.length;
  const at = draw(seed, 2, 8) === 0 ? 'saved' : draw(seed, 3, operations);
  const step = 2 + draw(seed, 4, STEPS - 2);
  return { rank, step: at === 'saved' ? step - (step % EVERY) : step, at, act: acts[seed % 3]! };
}

const instants = Array.from({ length: INSTANTS }, (_, index) => index);

test.each(instants)(
  'a rank that throws or ends, or a process that is killed: report, no torn checkpoint, resume (%i)',
  async (seed) => {
    const folder = freshFolder();
    const drill = drillOf(seed, program);
    const seen: string[] = [];
    const run = await superviseProgram(
      program,
      { ...options, drill, checkpoints: { folder, every: EVERY } },
      { onStep: ({ step }) => seen.push(`step ${step}`), onSaved: (step) => seen.push(`saved ${step}`) },
    );
    if (drill.act === 'kill') {
      expect(run).toMatchObject({ kind: 'died', death: { signal: 'SIGKILL' } });
      if (run.kind === 'died') expect(run.death.lastStep).toBeLessThanOrEqual(drill.step);
    } else {
      expect(run).toMatchObject({ kind: 'ended', result: { stopped: { rank: drill.rank } } });
      if (run.kind === 'ended' && typeof run.result.stopped === 'object') {
        const { reason, operation } = run.result.stopped;
        expect(reason).toMatch(drill.act === 'throw' ? /a drill broke rank/ : /its thread ended with code 1/);
        if (drill.at !== 'saved') expect(operation).toBeDefined();
      }
      expect(readdirSync(folder).filter((name) => name.endsWith('.partial'))).toEqual([]);
    }
    for (const step of completeSteps(folder)) expect(step).toBeLessThanOrEqual(drill.step);
    expect(seen.filter((each) => each.startsWith('step'))).toEqual(
      Array.from({ length: seen.filter((each) => each.startsWith('step')).length }, (_, index) => `step ${index + 1}`),
    );
    await expectResumes(folder);
  },
);

test.each(instants.filter((each) => each % 2 === 0))('a kill from outside at any instant (%i)', async (seed) => {
  const folder = freshFolder();
  const victim = 1 + draw(seed, 5, STEPS - 2);
  let child = 0;
  const run: Supervised = await superviseProgram(
    program,
    { ...options, steps: 100_000, checkpoints: { folder, every: EVERY } },
    {
      onStart: (process) => {
        child = process;
      },
      onStep: ({ step }) => void (step === victim && process.kill(child, 'SIGKILL')),
    },
  );
  expect(run).toMatchObject({ kind: 'died', death: { signal: 'SIGKILL' } });
  if (run.kind === 'died') expect(run.death.lastStep).toBeGreaterThanOrEqual(victim);
  for (const step of completeSteps(folder)) loadCheckpoint(folder, step);
});

test.each(instants.filter((each) => each % 2 === 0))(
  'an interruption saves the step that it ends with (%i)',
  async (seed) => {
    const folder = freshFolder();
    const controller = new AbortController();
    const victim = 1 + draw(seed, 6, 5);
    const run = await superviseProgram(
      program,
      { ...options, steps: 100_000, checkpoints: { folder, every: 100_000 } },
      { signal: controller.signal, onStep: ({ step }) => void (step === victim && controller.abort()) },
    );
    expect(run).toMatchObject({ kind: 'ended', result: { stopped: 'interrupted' } });
    if (run.kind === 'ended') expect(completeSteps(folder)).toEqual([run.result.losses.length]);
  },
);

test('what cannot be run is refused as in this process', async () => {
  await expect(superviseProgram(program, { ...options, steps: -1 })).rejects.toThrow(/VALUE_OUT_OF_RANGE/);
  const from = { folder: scratch, step: 3 };
  await expect(superviseProgram(program, { ...options, from })).rejects.toThrow(/CHECKPOINT_MISSING/);
});
