/** @file What `run` and `verify` are asked to execute: a job that compiles and fits this machine, on tokens of a file,
 * of the text that ships with Meshwright, or drawn from the seed.
 */
import { Option } from '@commander-js/extra-typings';
import { type ForcedAlgorithm, forcedAlgorithms, runBy } from '@meshwright/core/collectives';
import { compileProgram } from '@meshwright/core/compile';
import { InputError, type Issue, issue, throwOnErrors } from '@meshwright/core/errors';
import type { Job } from '@meshwright/core/job';
import type { Layout } from '@meshwright/core/layout';
import { countParameters } from '@meshwright/core/model';
import type { Program } from '@meshwright/core/program';
import {
  BYTE_VOCABULARY,
  builtinCorpus,
  byteTokenizer,
  type Corpus,
  checkSize,
  type KernelEngine,
  kernelEngines,
  readCorpus,
  readTokenizer,
  type Tokenizer,
} from '@meshwright/runtime';
import type { Host } from '../host.ts';
import { bytesNamed, readNamed } from './files.ts';
import { chooseLayout, type JobFile, readJobFile } from './job-file.ts';

/** A job and layout that may be run. */
export interface RunRequest {
  readonly file: JobFile;
  readonly job: Job;
  readonly layout: Layout;
  readonly parameters: number;
  /** Undefined: tokens drawn from the seed. */
  readonly corpus: Corpus | undefined;
  /** Warnings and notes. */
  readonly issues: readonly Issue[];
}

/** Weight, gradient and two moments in four bytes: what a parameter takes at least. */
const BYTES_PER_PARAMETER = 16;

/** What a command names beside the job. */
export interface RunSources {
  readonly layout?: string | undefined;
  readonly data?: string | undefined;
  readonly tokenizer?: string | undefined;
  readonly exchanges?: ForcedAlgorithm | undefined;
}

/** Reads what is to be run. Throws one InputError with what keeps it from being run. */
export async function readRunRequest(path: string, sources: RunSources, host: Host): Promise<RunRequest> {
  const file = readJobFile(path, sources.layout, host);
  const { job } = file;
  const parameters = countParameters(job.model).total;
  throwOnErrors(checkSize(BYTES_PER_PARAMETER * parameters).map(file.place));
  const { layout, issues } = chooseLayout(file);
  const corpus = corpusFor(job, sources.data, await tokenizerOf(sources.tokenizer, host), host);
  return { file, job, layout, parameters, corpus, issues: [...file.issues, ...issues] };
}

/** The tokenizer of a `tokenizer.json`, or that of bytes. */
export async function tokenizerOf(path: string | undefined, host: Host): Promise<Tokenizer> {
  return path === undefined ? byteTokenizer : readTokenizer(readNamed(path, host), path);
}

function corpusFor({ model }: Job, data: string | undefined, tokenizer: Tokenizer, host: Host): Corpus | undefined {
  if (data === 'drawn') return undefined;
  if (data === 'builtin' || (data === undefined && model.vocabulary >= BYTE_VOCABULARY)) {
    return builtinCorpus(tokenizer);
  }
  if (data === undefined) return undefined;
  const format = /\.bin$/i.test(data) ? 'bin' : /\.(jsonl|ndjson)$/i.test(data) ? 'jsonl' : 'text';
  return readCorpus(data, bytesNamed(data, host), format, tokenizer);
}

/** `--tokenizer FILE`. */
export const tokenizerOption = (): Option<'--tokenizer <FILE>', undefined, undefined, undefined, false, undefined> =>
  new Option('--tokenizer <FILE>', 'tokenizer.json of a Hugging Face model (default: tokens of text are bytes)');

type KernelsOption = Option<'--kernels <ENGINE>', undefined, 'wasm', undefined, false, KernelEngine>;

/** `--kernels`: what computes. */
export const kernelsOption = (): KernelsOption =>
  new Option(
    '--kernels <ENGINE>',
    'what computes: WebAssembly vectors (portable: the same bits on every machine), OpenBLAS where it is there, or the reference',
  )
    .choices(kernelEngines)
    .default('wasm' as const);

type ExchangesOption = Option<'--exchanges <NAME>', undefined, undefined, undefined, false, ForcedAlgorithm>;

/** `--exchanges`: the algorithm that collectives run by. */
export const exchangesOption = (otherwise: string): ExchangesOption =>
  new Option('--exchanges <NAME>', `collectives by one algorithm, where it takes them (default: ${otherwise})`).choices(
    forcedAlgorithms,
  );

/** The program that is run: the job's under a layout, its collectives by the algorithm that was asked for. */
export function programToRun(job: Job, layout: Layout, exchanges: ForcedAlgorithm | undefined): Program {
  const program = compileProgram(job, layout);
  return exchanges === undefined ? program : runBy(program, exchanges, job.cluster.gpusPerNode);
}

/** A whole number of an option. Throws VALUE_OUT_OF_RANGE. */
export const wholeOption =
  (name: string, least: number) =>
  (text: string): number => {
    const value = Number(text.replaceAll(',', ''));
    if (Number.isSafeInteger(value) && value >= least) return value;
    const message = `${text} is not a whole number from ${least}.`;
    throw new InputError([issue('VALUE_OUT_OF_RANGE', name, message, `Use ${least} or more.`)]);
  };

/** A positive number of an option. Throws VALUE_OUT_OF_RANGE. */
export const positiveOption =
  (name: string) =>
  (text: string): number => {
    const value = Number(text);
    if (Number.isFinite(value) && value > 0) return value;
    throw new InputError([issue('VALUE_OUT_OF_RANGE', name, `${text} is not a number above 0.`, 'Use 0.001.')]);
  };
