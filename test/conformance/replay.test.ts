/** @file The replay of a run in the step-through figure: what was recorded of each rank, at every step, is what the program says. */

import { compileProgram } from '@meshwright/core/compile';
import { readJob } from '@meshwright/core/io';
import { completeLayout, equalCosts } from '@meshwright/core/layout';
import { expandList } from '@meshwright/core/program';
import { recordingColumns, recordingOfColumns } from '@meshwright/core/timeline';
import { isRecordingOf, momentOf, stepScript } from '@meshwright/figures';
import { trainProgram } from '@meshwright/runtime';
import { describe, expect, it } from 'vitest';

const text = `
name: small
model: { kind: gpt2, layers: 2, hidden: 16, heads: 2, vocab: 32, positions: 8, tied: false }
cluster: { preset: dgx-h100, nodes: 2, gpusPerNode: 4 }
batch: { sequences: 8, length: 8 }
layout: { tensor: 2, pipeline: 2, data: 2, sharding: 2 }
`;

describe('a run told step by step', () => {
  it('holds, sends and receives at every step what the program says, in order of time', async () => {
    const { job } = readJob(text, 'job.yaml');
    if (!job) throw new Error('the job cannot be read');
    const { layout } = completeLayout(job.layout, job, equalCosts(job.model.layers.length));
    const program = compileProgram(job, layout);
    const run = await trainProgram(program, { steps: 1, inline: true });
    const recording = recordingOfColumns(JSON.parse(JSON.stringify(recordingColumns(run))));
    if (!recording) throw new Error('the recording does not survive JSON');
    const lists = program.lists.map((list) => expandList(program, list));
    expect(isRecordingOf(program, lists, recording)).toBe(true);
    const script = stepScript(program, job.cluster, { recording });
    expect(script.steps).toHaveLength(stepScript(program, job.cluster).steps.length);
    const ends = script.steps.map((_, index) => {
      const { gpus, step } = momentOf(script, index + 1);
      for (const { measured, sent, received, totalBytes } of gpus) {
        expect([measured?.sent, measured?.received, measured?.held]).toEqual([sent, received, totalBytes]);
      }
      return step?.measured?.end ?? 0;
    });
    expect(ends).toEqual(ends.toSorted((one, other) => one - other));
    expect(ends.at(-1)).toBeLessThanOrEqual(Math.max(...run.timeline.end) / 1e9);
    const longer = recording.held.with(0, [...Array.from(recording.held[0] ?? []), 0]);
    expect(isRecordingOf(program, lists, { ...recording, held: longer })).toBe(false);
    expect(recordingOfColumns({ ...recordingColumns(run), moves: { from: [1] } })).toBeUndefined();
  });
});
