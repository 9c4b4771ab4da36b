import { clusterFromRequest } from '@meshwright/core/cluster';
import { compileProgram } from '@meshwright/core/compile';
import { createJob, type Job } from '@meshwright/core/job';
import { completeLayout, equalCosts } from '@meshwright/core/layout';
import { modelFromDimensions } from '@meshwright/core/model';
import { type StepReport, trainProgram } from '@meshwright/runtime';
import { expect, test } from 'vitest';
import { fieldsOfRun, fieldsOfSteps } from './run-json.ts';
import { bytesOfRun, deathReport, peaksOf, runReport } from './run-report.ts';

function toyJob(): Job {
  const { cluster } = clusterFromRequest({ preset: 'dgx-h100', nodes: 1, gpusPerNode: 4 }, 'cluster');
  const dimensions = { kind: 'gpt2', layers: 2, hidden: 8, heads: 2, ffn: 32, vocab: 16, positions: 4 } as const;
  const { model } = modelFromDimensions(dimensions, 'model');
  if (!cluster || !model) throw new Error('internal: the job of the test is broken.');
  return createJob({ name: 'toy', model, cluster, batch: { sequences: 4, length: 4 }, precision: 'fp32' });
}

const job = toyJob();
const { layout } = completeLayout({ tensor: 2, data: 2, sharding: 1 }, job, equalCosts(2));
const program = compileProgram(job, layout);
const contract = ['schema', 'steps', 'losses', 'gradNorms', 'secondsPerStep', 'bytes', 'peakBytes', 'stopped'];

test('what the steps of a run had told, had it died behind the last one, is what it tells itself', async () => {
  const steps: StepReport[] = [];
  const run = await trainProgram(program, { steps: 3, inline: true, onStep: (step) => steps.push(step) });
  const whole = fieldsOfRun(run, bytesOfRun(program, run), peaksOf(run));
  expect(Object.keys(whole)).toEqual(contract);
  const told = fieldsOfSteps(program, steps, 'done');
  expect({ ...told, peakBytes: whole.peakBytes }).toEqual(whole);
  expect(told.peakBytes).toEqual({ predicted: whole.peakBytes.predicted, tracked: null, arena: null });
});

test('a process that dies leaves a report with every field, and where it stopped', () => {
  const death = { signal: 'SIGKILL', exitCode: undefined, lastStep: 4, lastWords: '' };
  const saved = { folder: 'checkpoints', step: 4, resume: 'meshwright resume toy.yaml' };
  const json = deathReport({ program, job, layout }, death, [], saved).json();
  expect(Object.keys(json)).toEqual(expect.arrayContaining(contract));
  expect(JSON.parse(JSON.stringify(json))).toMatchObject({
    steps: 0,
    bytes: { data: { predicted: 0, moved: 0 }, tensor: { predicted: 0, moved: 0 } },
    stopped: { rank: null, operation: null, reason: 'the process of the ranks was ended by SIGKILL after step 4' },
    signal: 'SIGKILL',
    checkpoint: { folder: 'checkpoints', step: 4 },
  });
});

test('a rank that stops names itself, its operation and the reason', async () => {
  const drill = { rank: 1, step: 1, at: 0, act: 'throw' } as const;
  const run = await trainProgram(program, { steps: 2, inline: true, drill });
  const json = runReport({ program, job, layout }, run, undefined).json();
  expect(JSON.parse(JSON.stringify(json))).toMatchObject({
    stopped: { rank: 1, operation: expect.any(String), reason: expect.any(String) },
  });
});
