/** @file What the runtime refuses before it starts: types that it does not compute, options out of range, more ranks or
 * more memory than one machine has.
 */
import { totalmem } from 'node:os';
import { type Issue, issue } from '@meshwright/core/errors';
import { worldSize } from '@meshwright/core/mesh';
import { degreesOf, type ExpandedList, expandList, lifetimesOf, type Program } from '@meshwright/core/program';
import { vocabularyOf } from '../inputs/fill.ts';
import type { KernelEngine } from '../kernels/engine.ts';
import { findOpenBlas, missingWords } from '../kernels/openblas/library.ts';
import { type Corpus, checkCorpus } from '../tokens/corpus.ts';

/** Threads that one machine is asked for. */
const MOST_RANKS = 16;

/** Beside the buffers: staging of exchanges, whole tensors that are put together, and the program itself. */
const OVERHEAD = 1.5;
const GIB = 2 ** 30;

/** What a run is judged by. */
export interface RunRequest {
  readonly steps: number;
  readonly corpus?: Corpus | undefined;
  readonly kernels?: KernelEngine | undefined;
}

/** All that keeps a program from being run with these options on a machine of `memoryBytes`. */
export function checkRunnable(
  program: Program,
  { steps, corpus, kernels }: RunRequest,
  memoryBytes: number = machineBytes(),
): readonly Issue[] {
  const lists = program.lists.map((list) => expandList(program, list));
  const issues: Issue[] = [];
  if (!Number.isSafeInteger(steps) || steps < 0) {
    const message = `${steps} is not a whole number of steps.`;
    issues.push(issue('VALUE_OUT_OF_RANGE', 'run.steps', message, 'Use 0 or more.', { steps }));
  }
  const ranks = worldSize(program.mesh);
  if (ranks > MOST_RANKS) {
    const message = `${ranks} ranks are more than the ${MOST_RANKS} that one machine runs.`;
    issues.push(issue('RANKS_TOO_MANY', 'layout', message, `Use degrees that multiply to ${MOST_RANKS} or less.`));
  }
  const types = new Set(buffersOf(program).map(({ dtype }) => dtype));
  for (const type of ['fp16', 'fp8', 'mxfp8', 'nvfp4'] as const) {
    if (!types.has(type)) continue;
    const message = `the program computes in ${type}, which the runtime does not execute.`;
    issues.push(issue('TYPE_NOT_EXECUTED', 'job.precision', message, 'Use fp32 or bf16.', { type }));
  }
  issues.push(...checkKernels(kernels));
  issues.push(...checkSize(bytesOfRun(program, lists), memoryBytes));
  if (corpus) issues.push(...checkCorpus(corpus, vocabularyOf(program), sampleLengthOf(program)));
  return issues;
}

/** What the kernels need of this machine. */
function checkKernels(kernels: KernelEngine | undefined): readonly Issue[] {
  if (kernels !== 'openblas') return [];
  const found = findOpenBlas();
  if (found.kind === 'found') return [];
  const { message, hint } = missingWords(found);
  return [issue('KERNELS_MISSING', '--kernels', message, hint, { tried: found.tried.join(', ') })];
}

/** Refuses a run that holds `bytes` on a machine of `memoryBytes`. */
export function checkSize(bytes: number, memoryBytes: number = machineBytes()): readonly Issue[] {
  if (bytes <= memoryBytes) return [];
  const gib = (amount: number): string => `${(amount / GIB).toFixed(1)} GiB`;
  const message = `a run of this job holds about ${gib(bytes)}, more than the ${gib(memoryBytes)} of this machine.`;
  const hint = 'Use a smaller model or batch: run and verify are for models of some million parameters.';
  return [issue('RUN_TOO_LARGE', 'job.model', message, hint, { bytes: Math.round(bytes), memoryBytes })];
}

/** Memory of this machine, or of the part of it that this process may use. */
function machineBytes(): number {
  const constrained = process.constrainedMemory() ?? 0;
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

const buffersOf = (program: Program) => [...program.buffers, ...program.lists.flatMap((list) => list.buffers)];

/** Memory of all ranks at their peaks. Two-byte types are held in four. */
function bytesOfRun(program: Program, lists: readonly ExpandedList[]): number {
  const degrees = degreesOf(program);
  const width = buffersOf(program).some(({ dtype }) => dtype === 'bf16') ? 2 : 1;
  const share = worldSize(program.mesh) / Math.max(1, lists.length);
  return lists.reduce((sum, list) => sum + lifetimesOf(list, degrees).peakBytes, 0) * width * share * OVERHEAD;
}

/** Tokens of a sample. */
const sampleLengthOf = (program: Program): number =>
  buffersOf(program).find(({ name }) => name === 'tokens')?.dims[0]?.size ?? 0;
