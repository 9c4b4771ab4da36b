import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { completeLayout, equalCosts } from '../layout/index.ts';
import { jobSchema, readJob, readModelConfig } from './index.ts';

const root = new URL('../../../../', import.meta.url);
const text = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const examples = readdirSync(new URL('examples/', root)).filter((name) => name.endsWith('.yaml'));
const small = 'model: gpt2\ncluster: 1x dgx-h100\nbatch: { sequences: 64, length: 1024 }\n';

describe('examples', () => {
  it.each(examples)('%s reads without issues', (name) => {
    const { job, issues } = readJob(text(`examples/${name}`), name);
    expect(issues).toEqual([]);
    expect(job).toBeDefined();
  });
  it('the trillion-parameter row of Narayanan et al. is 8 x 64 x 6 with 512 micro-batches', () => {
    const { job } = readJob(text('examples/narayanan-1t.yaml'), 'narayanan-1t.yaml');
    if (!job) throw new Error('no job');
    const { layout, issues } = completeLayout(job.layout, job, equalCosts(128));
    expect(issues).toEqual([]);
    expect(layout).toMatchObject({ tensor: 8, pipeline: 64, data: 6, microBatch: 1, recompute: 'full' });
    expect(job).toMatchObject({ precision: 'fp16', kernels: { attention: 'unfused', dropout: 0.1 } });
  });
  it('the toy is the job that is written out by hand', () => {
    const { job } = readJob(text('examples/toy-2x2x2.yaml'), 'toy-2x2x2.yaml');
    expect(job?.layout).toEqual({
      tensor: 2,
      pipeline: 2,
      data: 2,
      sharding: 1,
      microBatch: 1,
      sequenceParallel: true,
      schedule: '1f1b',
      gradientType: 'fp32',
    });
    expect(job?.model).toMatchObject({ name: 'toy', hidden: 8, vocabulary: 16, learnedPositions: 4, tied: true });
  });
});

describe('a job file', () => {
  it('takes defaults for what it leaves out', () => {
    expect(readJob(small, 'jobs/small.yaml').job).toMatchObject({
      name: 'small',
      precision: 'bf16',
      optimizer: 'adamw',
      framework: 'meshwright',
      kernels: { attention: 'flash', dropout: 0 },
      layout: {},
      batch: { sequences: 64, length: 1024, maxTokens: undefined },
    });
  });
  it('means the same in JSON', () => {
    const json = JSON.stringify({
      model: 'gpt2',
      cluster: '1x dgx-h100',
      batch: { sequences: 64, length: 1024 },
    });
    expect(readJob(json, 'small.json').job).toEqual(readJob(small, 'small.yaml').job);
  });
  it('takes sizes with suffixes', () => {
    const batch = (words: string) => readJob(small.replace(/batch:.*/, `batch: ${words}`), 'a.yaml').job?.batch;
    expect(batch('{ tokens: 8Mi, length: 1Ki, max: 16M }')).toEqual({
      sequences: 8192,
      length: 1024,
      maxTokens: 16_000_000,
    });
    expect(batch('{ sequences: 2k, length: 1024 }')?.sequences).toBe(2000);
  });
  it('reads the files that it names', () => {
    const files: Record<string, string> = {
      'my/config.json': text('test/fixtures/configs/mlc-gpt2.json'),
      'my/cluster.yaml': 'preset: dgx-h100\nnodes: 2\n',
    };
    const asked: string[] = [];
    const loadFile = (path: string, from: string): string | undefined => {
      asked.push(`${from} -> ${path}`);
      return files[path];
    };
    const named = small.replace('gpt2', 'my/config.json').replace('1x dgx-h100', 'my/cluster.yaml');
    const { job, issues } = readJob(named, 'jobs/a.yaml', { loadFile });
    expect(issues).toEqual([]);
    expect(job?.model).toMatchObject({ name: 'my', kind: 'gpt2' });
    expect(job?.cluster.nodes).toBe(2);
    expect(asked).toEqual(['jobs/a.yaml -> my/config.json', 'jobs/a.yaml -> my/cluster.yaml']);
  });
  it('reads here as the measured machine beside the job, and says what writes it', () => {
    const here = small.replace('1x dgx-h100', 'here');
    const { job } = readJob(here, 'a.yaml', {
      loadFile: (file) => (file === './here.yaml' ? 'preset: dgx-h100\nnodes: 3\n' : undefined),
    });
    expect(job?.cluster.nodes).toBe(3);
    const [missing] = readJob(here, 'a.yaml').issues;
    expect(missing).toMatchObject({ code: 'FILE_NOT_FOUND', path: 'cluster' });
    expect(missing?.hint).toContain('meshwright calibrate --here');
  });
  it('points into the file that is wrong', () => {
    const named = small.replace('1x dgx-h100', 'c.yaml');
    const { issues } = readJob(named, 'a.yaml', { loadFile: () => 'preset: dgx-h100\nnodes: many\n' });
    expect(issues[0]?.position).toMatchObject({ file: 'c.yaml', line: 2, column: 8 });
  });
  it('keeps warnings beside the job, at their place', () => {
    const { job, issues } = readJob(
      small.replace('gpt2', 'llama-2-7b').replace('1024', '8192').replace('64', '64, max: 100k'),
      'a.yaml',
    );
    expect(job).toBeDefined();
    expect(issues.map((each) => [each.severity, each.code, each.position?.column])).toEqual([
      ['warning', 'BATCH_BEYOND_LIMIT', 30],
      ['warning', 'LENGTH_OVER_MODEL', 44],
    ]);
  });
  it('places issues of later stages where the key was written', () => {
    const place = (layout: string, path: string) => {
      const { position } = readJob(`${small}layout: ${layout}\n`, 'a.yaml').place({
        code: 'DEGREES_NOT_GPUS',
        severity: 'error',
        path,
        message: 'x.',
      });
      return `${position?.line}:${position?.column}`;
    };
    expect(place('{ tp: 3, dp: 2 }', 'layout.tensor')).toBe('4:15');
    expect(place('{ tp: 3, data: 2 }', 'layout.data')).toBe('4:24');
    expect(place('tp=3,dp=2', 'layout.data')).toBe('4:17');
    expect(place('"tp=3,dp=2"', 'layout.data')).toBe('4:18');
    expect(place('auto', 'layout.data')).toBe('4:9');
  });
});

describe('reading never throws', () => {
  const words = fc.constantFrom(
    ...['model', 'cluster', 'batch', 'layout', ': ', '\n', '  ', '- ', '[', ']', '{', '}', '&a ', '*a', '"', "'"],
    ...['1', '.nan', '.inf', '-1', '1e999', 'gpt2', '1x dgx-h100', '!!x ', '|\n', '>', '? ', '#', '%', '\t', '---\n'],
    ...[
      '__proto__',
      'constructor',
      'sequences',
      'length',
      'kind',
      'llama',
      'layers',
      ',',
      '=',
      'tp',
      '\u0000',
      '\ud800',
    ],
  );
  const soup = fc.array(words, { maxLength: 40 }).map((parts) => parts.join(''));
  it('on soup of YAML', () => {
    fc.assert(
      fc.property(soup, (source) => {
        for (const each of readJob(source, 'a.yaml').issues) {
          expect(each.position?.line).toBeGreaterThan(0);
          expect(each.position?.column).toBeGreaterThan(0);
        }
        readModelConfig(source, 'config.json');
      }),
      { numRuns: 500 },
    );
  });
  it('on any value in any place of a good file', () => {
    const keys = [
      'name',
      'model',
      'cluster',
      'batch',
      'precision',
      'optimizer',
      'workload',
      'framework',
      'kernels',
      'routing',
      'layout',
    ];
    fc.assert(
      fc.property(fc.constantFrom(...keys), fc.jsonValue(), (key, value) => {
        const good = { model: 'gpt2', cluster: '1x dgx-h100', batch: { sequences: 64, length: 1024 } };
        const { job, issues } = readJob(JSON.stringify({ ...good, [key]: value }), 'a.json');
        expect(job === undefined).toBe(issues.some((each) => each.severity === 'error'));
      }),
      { numRuns: 500 },
    );
  });
  it('on any value in any place of a configuration', () => {
    const good = JSON.parse(text('test/fixtures/configs/mistralai-mixtral-8x7b-v0.1.json')) as Record<string, unknown>;
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(good)), fc.jsonValue(), (key, value) => {
        const { model, issues } = readModelConfig(JSON.stringify({ ...good, [key]: value }), 'config.json');
        expect(model === undefined).toBe(issues.some((each) => each.severity === 'error'));
      }),
      { numRuns: 500 },
    );
  });
});

describe('the JSON Schema', () => {
  const schema = jobSchema() as { properties: Record<string, { description?: string }>; required: string[] };
  it('describes every key of a job', () => {
    expect(Object.keys(schema.properties)).toEqual([
      'name',
      'model',
      'cluster',
      'batch',
      'precision',
      'optimizer',
      'workload',
      'framework',
      'kernels',
      'routing',
      'layout',
    ]);
    for (const key of Object.values(schema.properties)) expect(key.description).toMatch(/\.$/);
    expect(schema.required).toEqual(['model', 'cluster', 'batch']);
  });
  it('is plain JSON that lists presets, dimensions and layout keys', () => {
    const plain = JSON.stringify(schema);
    for (const word of ['llama-3.1-70b', 'kvHeads', 'layersPerStage', '"tp"']) expect(plain).toContain(word);
  });
});
