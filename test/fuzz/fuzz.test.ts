/** @file Mutated model configurations, job files and layout texts: each is answered or refused in words.
 *
 * 10,000 cases here, 100,000 by `npm run test:long`. `FUZZ_SEED=n` draws others, `FUZZ_CASE=n` runs one case of its kind
 * again, as a failure names it (`model 17`).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { parseLayoutString, readJob, readModelConfig, readPlain } from '@meshwright/core/io';
import type { Job } from '@meshwright/core/job';
import { completeLayout, type LayoutRequest, microBatchesOf } from '@meshwright/core/layout';
import { countParameters, flopsPerToken } from '@meshwright/core/model';
import { showLayout, splitCosts } from '@meshwright/core/plan';
import { expect, test, vi } from 'vitest';
import { extremeJob } from './extremes.ts';
import { layoutText } from './layout-texts.ts';
import { type Answer, emptyTally, type Tally, tryCase } from './outcome.ts';
import { type Draws, drawsOf } from './random.ts';
import { mutateText, mutateTree, textOf, treeOf } from './tree.ts';

const SEED = Number(process.env['FUZZ_SEED'] ?? 1);
const TENTHS = process.env['MESHWRIGHT_LONG'] ? 10 : 1;
const ONE = process.env['FUZZ_CASE'];
/** One case of so many is priced in full. */
const SHOWN = Number(process.env['FUZZ_SHOWN'] ?? 40);

/** Layers times stages beyond which no case is priced in full: real layouts of that size take seconds. So do steps of
 * jobs of any size with more layers times micro-batches, which may become steady late and are then written out. */
const MOST_STAGED = 1024;

/** Against hangs of the whole; each case is held to its own limit. */
vi.setConfig({ testTimeout: 1_800_000 });

const folder = (path: string): URL => new URL(`../../${path}/`, import.meta.url);
const contents = (path: string, ending: string): string[] =>
  readdirSync(folder(path))
    .filter((name) => name.endsWith(ending))
    .map((name) => readFileSync(new URL(name, folder(path)), 'utf8'));

/** Files with lists of configurations among those with one. */
const configs: unknown[] = contents('test/fixtures/configs', '.json').flatMap((text) => {
  const value: unknown = JSON.parse(text);
  return Array.isArray(value) ? value.flatMap((each: { config?: unknown }) => each.config ?? []) : [value];
});
const jobTexts = contents('examples', '.yaml');
const jobValues = jobTexts.map((text) => readPlain(text, 'job.yaml').value);
const jobs = jobTexts.flatMap((text): Job | Job[] => readJob(text, 'job.yaml').job ?? []);
const keysOf = (values: readonly unknown[]): readonly string[] => [
  ...new Set(values.flatMap((value) => (typeof value === 'object' && value !== null ? Object.keys(value) : []))),
];
const [configKeys, jobKeys] = [
  keysOf(configs),
  [...keysOf(jobValues), 'precision', 'optimizer', 'workload', 'kernels', 'framework', 'layout'],
];

/** A value with one to three changes, and one in eight with its text broken. */
function mutated(value: unknown, draws: Draws, names: readonly string[]): string {
  const tree = treeOf(value);
  for (let change = draws.whole(3); change >= 0; change--) mutateTree(tree, draws, names);
  const text = textOf(tree);
  return draws.chance(0.125) ? mutateText(text, draws) : text;
}

function runAll(
  kind: string,
  tenth: number,
  write: (draws: Draws) => string,
  answer: (text: string, draws: Draws) => Answer,
): Tally {
  const tally = emptyTally();
  for (let index = 0; index < tenth * TENTHS; index++) {
    if (ONE !== undefined && Number(ONE) !== index) continue;
    const draws = drawsOf(SEED, index);
    const text = write(draws);
    tryCase(tally, `${kind} ${index} (FUZZ_SEED=${SEED} FUZZ_CASE=${index})`, text, () => answer(text, draws));
  }
  if (process.env['FUZZ_TALLY']) console.log(kind, { ...tally, faults: tally.faults.length });
  return tally;
}

/** The layout of a job held against all laws, and priced in some of the cases. */
function laid(job: Job, request: LayoutRequest, draws: Draws, mostPasses = Number.POSITIVE_INFINITY): Answer {
  const { layout, issues } = completeLayout(request, job, splitCosts(job));
  const isLegal = issues.every(({ severity }) => severity !== 'error');
  if (!isLegal) return { issues };
  if (draws.whole(SHOWN) > 0) return { output: layout, issues };
  const { length: layers } = job.model.layers;
  const isLong = layout.pipeline * layers > MOST_STAGED || microBatchesOf(job, layout) * layers > mostPasses;
  if (isLong) return { output: layout, issues };
  return { output: showLayout(job, request), issues };
}

/** Faults, one after the other; the long run prints them all at once. */
const expectSound = ({ faults, answered, refused, cases }: Tally): void => {
  expect(faults.slice(0, 20).join('\n')).toBe('');
  if (ONE === undefined) expect(Math.min(answered, refused)).toBeGreaterThan(cases / 20);
};

test('mutated model configurations are read or refused in words', () => {
  const tally = runAll(
    'model',
    3_000,
    (draws) => mutated(draws.pick(configs), draws, configKeys),
    (text) => {
      const { model, issues } = readModelConfig(text, 'config.json');
      return { issues, output: model && { model, counts: countParameters(model), flops: flopsPerToken(model, 2048) } };
    },
  );
  expectSound(tally);
});

test('mutated job files are read or refused in words, and their layouts held against the laws', () => {
  const write = (draws: Draws): string => {
    if (draws.chance(0.25)) return mutateText(draws.pick(jobTexts), draws);
    return mutated(draws.pick(jobValues), draws, jobKeys);
  };
  const tally = runAll('job', 3_000, write, (text, draws) => {
    const { job, issues, place } = readJob(text, 'job.yaml');
    if (!job) return { issues };
    const answer = laid(job, job.layout, draws);
    return { output: { job, answer: answer.output }, issues: [...issues, ...answer.issues.map(place)] };
  });
  expectSound(tally);
});

test('layout texts of every key are legal or refused in words', () => {
  const tally = runAll('layout', 4_000, layoutText, (text, draws) => {
    const { layout, issues } = parseLayoutString(text);
    if (issues.some(({ severity }) => severity === 'error')) return { issues };
    const answer = laid(draws.pick(jobs), layout, draws);
    return { ...answer, issues: [...issues, ...answer.issues] };
  });
  expectSound(tally);
});

test('jobs of any size are priced or refused in words', () => {
  const write = (draws: Draws): string => extremeJob(draws);
  const tally = runAll('extreme', 1_000, write, (text, draws) => {
    const { job, issues } = readJob(text, 'job.yaml');
    if (!job) return { issues };
    const layout = parseLayoutString(layoutText(draws)).layout;
    const answer = laid(job, draws.chance(0.5) ? {} : layout, draws, MOST_STAGED);
    return { output: { job, answer: answer.output }, issues: [...issues, ...answer.issues] };
  });
  expectSound(tally);
});
