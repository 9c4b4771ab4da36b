/** @file Every compiled program goes through its text and its JSON unchanged, and its text tells the bytes that the ledger
 * counts. */
import { clusterFromRequest } from '@meshwright/core/cluster';
import { compileProgram } from '@meshwright/core/compile';
import { renderIssue } from '@meshwright/core/errors';
import { createJob, type Job } from '@meshwright/core/job';
import { checkLayout, type Layout } from '@meshwright/core/layout';
import { defaultOrder } from '@meshwright/core/mesh';
import { type ModelDimensions, modelFromDimensions } from '@meshwright/core/model';
import {
  blocksOf,
  bytesSent,
  diffPrograms,
  type Program,
  parseProgram,
  printProgram,
  programFromJson,
  programToJson,
} from '@meshwright/core/program';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const models: readonly ModelDimensions[] = [
  { kind: 'gpt2', layers: 4, hidden: 8, heads: 2, ffn: 32, vocab: 16, positions: 4 },
  { kind: 'llama', layers: 4, hidden: 8, heads: 4, kvHeads: 2, ffn: 24, vocab: 16 },
  { kind: 'mixtral', layers: 4, hidden: 8, heads: 4, kvHeads: 2, ffn: 16, vocab: 16, experts: 4, topK: 2 },
];

function jobOf(dimensions: ModelDimensions, attention: 'flash' | 'unfused', dropout: number): Job {
  const { cluster } = clusterFromRequest('1x dgx-h100', 'cluster');
  const { model } = modelFromDimensions(dimensions, 'model');
  if (!cluster || !model) throw new Error('internal: the toy job is broken.');
  return createJob({
    name: 'any',
    model,
    cluster,
    batch: { sequences: 8, length: 4 },
    kernels: { attention, dropout },
  });
}

const pipelines: readonly Pick<Layout, 'pipeline' | 'chunks' | 'schedule' | 'layersPerStage'>[] = [
  { pipeline: 1, chunks: 1, schedule: 'none', layersPerStage: [4] },
  { pipeline: 2, chunks: 1, schedule: '1f1b', layersPerStage: [2, 2] },
  { pipeline: 2, chunks: 1, schedule: 'gpipe', layersPerStage: [3, 1] },
  { pipeline: 2, chunks: 2, schedule: 'interleaved-1f1b', layersPerStage: [1, 1, 1, 1] },
  { pipeline: 4, chunks: 1, schedule: '1f1b', layersPerStage: [1, 1, 1, 1] },
];

const jobs = fc
  .tuple(fc.constantFrom(...models), fc.constantFrom('flash' as const, 'unfused' as const), fc.constantFrom(0, 0.1))
  .map(([dimensions, attention, dropout]) => jobOf(dimensions, attention, attention === 'flash' ? 0 : dropout));

const layouts: fc.Arbitrary<Layout> = fc
  .record({
    tensor: fc.constantFrom(1, 2),
    data: fc.constantFrom(1, 2, 4),
    replicate: fc.constantFrom(1, 2),
    offload: fc.constantFrom('none' as const, 'optimizer' as const),
    context: fc.constant(1),
    contextKind: fc.constant('ring' as const),
    expert: fc.constant(1),
    sharding: fc.constantFrom(0 as const, 1 as const, 2 as const, 3 as const),
    prefetch: fc.constantFrom(0, 1, 2),
    reshard: fc.boolean(),
    lossChunks: fc.constantFrom(1, 2),
    bucketMB: fc.constantFrom(25, 0.001),
    gradientType: fc.constantFrom('bf16' as const, 'fp32' as const),
    gradientReduction: fc.constantFrom('per-step' as const, 'per-micro-batch' as const),
    overlap: fc.constantFrom<Layout['overlap']>(['data', 'parameters', 'pipeline'], ['pipeline']),
    microBatch: fc.constantFrom(1, 2),
    recompute: fc.constantFrom('none' as const, 'selective' as const, 'full' as const),
    layers: fc.constantFrom<Layout['layers']>([], [{ from: 1, to: 2, recompute: 'full' }]),
    sequenceParallel: fc.boolean(),
    keepGathered: fc.boolean(),
    order: fc.constantFrom(defaultOrder, ['data', 'tensor', 'pipeline'] as const),
    pipeline: fc.constantFrom(...pipelines),
  })
  .map(({ pipeline, ...rest }) => ({ ...rest, expertTensor: rest.tensor, ...pipeline }));

const programs: fc.Arbitrary<Program> = fc
  .tuple(jobs, layouts)
  .filter(([job, layout]) =>
    checkLayout(job, layout).every(({ severity, code }) => severity !== 'error' || code === 'DEGREES_NOT_GPUS'),
  )
  .map(([job, layout]) => compileProgram(job, layout));

describe('compiled programs', () => {
  it('come back from their text', () => {
    fc.assert(
      fc.property(programs, (program) => {
        const text = printProgram(program);
        const parsed = parseProgram(text);
        expect(parsed.issues.map(renderIssue)).toEqual([]);
        expect(parsed.program).toEqual(program);
        expect(parsed.program && printProgram(parsed.program)).toBe(text);
      }),
      { numRuns: 25 },
    );
  });

  it('come back from their JSON', () => {
    fc.assert(
      fc.property(programs, (program) => {
        const json: unknown = JSON.parse(JSON.stringify(programToJson(program)));
        expect(programFromJson(json)).toEqual({ program, issues: [] });
        expect(diffPrograms(program, json as Program).text).toBe('');
      }),
      { numRuns: 60 },
    );
  });

  it('say in the margin of their text what the ledger counts', () => {
    fc.assert(
      fc.property(programs, (program) => {
        const counted = bytesSent(program).lists.map((list) => list.total.bytes);
        expect(program.lists.map(({ name }) => bytesInText(program, name))).toEqual(counted);
      }),
      { numRuns: 60 },
    );
  });
});

/** Adds up what the text of one list says that a rank sends, a template's lines once for each block that runs it. */
function bytesInText(program: Program, name: string): number {
  const sections = printProgram(program, { list: name }).split('\n\n');
  const sum = (lines: readonly string[]): number =>
    lines.reduce((total, line) => total + Number(/# sends ([\d,]+) B/.exec(line)?.[1]?.replaceAll(',', '') ?? 0), 0);
  const ofTemplate = new Map(
    sections
      .filter((section) => section.startsWith('template '))
      .map((section) => [section.split(' ')[1], sum(section.split('\n'))]),
  );
  const list = program.lists.find((each) => each.name === name);
  const calls = (list?.items ?? []).flatMap((item) =>
    item.kind === 'call' ? blocksOf(item).map(() => ofTemplate.get(item.template) ?? 0) : [],
  );
  const own = sections.find((section) => section.startsWith(`list ${name} `)) ?? '';
  return calls.reduce((total, bytes) => total + bytes, sum(own.split('\n')));
}
