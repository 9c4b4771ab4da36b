/** @file A checkpoint read back: every byte checked, whole tensors put together, ready for any layout. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InputError, type Issue, issue, quote } from '@meshwright/core/errors';
import type { Program } from '@meshwright/core/program';
import { checkpointPath, completeSteps } from './folder.ts';
import {
  LARGEST_MANIFEST,
  MANIFEST_FILE,
  type Manifest,
  readManifest,
  type ShardFile,
  type State,
  sha256Of,
} from './manifest.ts';
import { frozenOf, type Placement, shapesOf } from './placement.ts';
import { eachRow, elementsOfRuns } from './runs.ts';
import { damaged, readSafetensors, type Stored, storedValues } from './safetensors.ts';

/** A whole tensor with what the optimizer remembers of each element, in memory that threads share. */
export interface SavedTensor {
  readonly shape: readonly number[];
  readonly states: Partial<Record<State, Stored>>;
  /** Files hold its weights in bf16. */
  narrow?: boolean;
}

/** All that a run needs to go on: the state after a step. */
export interface TrainingState {
  readonly manifest: Manifest;
  readonly tensors: Readonly<Record<string, SavedTensor>>;
}

/** Reads the last complete checkpoint of a folder, or that of `step`. Throws CHECKPOINT_MISSING where there is none and
 * CHECKPOINT_DAMAGED with all that is wrong with it. */
export const loadCheckpoint = (folder: string, step?: number): TrainingState =>
  readCheckpoint(chosenPath(folder, step));

/** The index of the last complete checkpoint of a folder, or of that of `step`, without its files. Throws as
 * {@link loadCheckpoint}. */
export const readManifestOf = (folder: string, step?: number): Manifest => manifestOf(chosenPath(folder, step));

function chosenPath(folder: string, step: number | undefined): string {
  const steps = completeSteps(folder);
  const chosen = step ?? steps.at(-1);
  if (chosen === undefined) {
    const message = `${quote(folder)} holds no complete checkpoint.`;
    throw new InputError([issue('CHECKPOINT_MISSING', '', message, 'Run with --checkpoint-every first.')]);
  }
  if (!steps.includes(chosen)) {
    const message = `${quote(folder)} holds no complete checkpoint of step ${chosen}.`;
    const hint = steps.length === 0 ? 'Run with --checkpoint-every first.' : `Use step ${steps.join(', ')}.`;
    throw new InputError([issue('CHECKPOINT_MISSING', '', message, hint)]);
  }
  return checkpointPath(folder, chosen);
}

/** Reads the checkpoint at `path`. Throws CHECKPOINT_DAMAGED. */
export function readCheckpoint(path: string): TrainingState {
  const manifest = manifestOf(path);
  const tensors: TrainingState['tensors'] = Object.fromEntries(
    Object.entries(manifest.shapes).map(([name, shape]) => [name, { shape, states: {} }]),
  );
  const found = manifest.files.flatMap((file) => readShard(path, file, tensors));
  if (found.length > 0) throw new InputError(found.slice(0, MOST_ISSUES));
  return { manifest, tensors };
}

function manifestOf(path: string): Manifest {
  const place = join(path, MANIFEST_FILE);
  const { manifest, issues } = readManifest(new TextDecoder().decode(bytesOf(place, LARGEST_MANIFEST)), place);
  if (!manifest) throw new InputError(issues);
  return manifest;
}

/** Puts the pieces of a file into the tensors; says what is wrong with it. */
function readShard(path: string, file: ShardFile, tensors: Readonly<Record<string, SavedTensor>>): readonly Issue[] {
  const place = join(path, file.name);
  const bytes = bytesOf(place, file.bytes);
  if (bytes.length !== file.bytes) {
    return [damaged(place, `it has ${bytes.length} bytes, and the index says ${file.bytes}.`)];
  }
  if (sha256Of(bytes) !== file.sha256) return [damaged(place, 'its bytes have not the hash that the index says.')];
  const { tensors: stored, issues } = readSafetensors(bytes, place);
  if (issues.length > 0) return issues;
  const wanted = Object.entries(file.tensors);
  if (stored.length !== wanted.length) {
    return [damaged(place, `it has ${stored.length} tensors, and the index says ${wanted.length}.`)];
  }
  return wanted.flatMap(([name, runs]): readonly Issue[] => {
    const found = stored.find((each) => each.name === name);
    const tensor = tensors[name];
    if (!found || !tensor) return [damaged(place, `it lacks the tensor ${quote(name)}.`)];
    const values = storedValues(bytes, found);
    const elements = elementsOfRuns(runs);
    if (elements !== values.length) {
      return [damaged(place, `${quote(name)} has ${values.length} elements, and the index says ${elements}.`)];
    }
    tensor.states[file.state] ??= wholeFor(tensor.shape, values);
    if (file.state === 'weights') tensor.narrow = found.dtype === 'BF16' && tensor.narrow !== false;
    const whole = tensor.states[file.state];
    eachRow(runs, (start, length, from) => whole?.set(values.subarray(from, from + length), start));
    return [];
  });
}

function wholeFor(shape: readonly number[], piece: Stored): Stored {
  const size = shape.reduce((product, each) => product * each, 1);
  return piece instanceof Float64Array
    ? new Float64Array(new SharedArrayBuffer(8 * size))
    : new Float32Array(new SharedArrayBuffer(4 * size));
}

/** The bytes of a plain file of at most `most` bytes; links are not followed. Throws CHECKPOINT_DAMAGED. */
function bytesOf(place: string, most: number): Uint8Array {
  const refuse = (message: string): InputError => new InputError([damaged(place, message)]);
  let file: number;
  try {
    file = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw refuse(
      code === 'ENOENT' ? 'it is not there.' : code === 'ELOOP' ? 'it is a link.' : `it cannot be read (${code}).`,
    );
  }
  try {
    const status = fstatSync(file);
    if (!status.isFile()) throw refuse('it is no file.');
    if (status.size > most) throw refuse(`it has ${status.size} bytes, and at most ${most} are expected.`);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** What keeps a program from going on from a state: another optimizer, other tensors. */
export function checkState(
  { manifest }: TrainingState,
  { optimizer }: Program,
  placement: Placement,
): readonly Issue[] {
  const issues: Issue[] = [];
  const shapes = shapesOf(placement);
  const differs = (message: string): void =>
    void issues.push(issue('CHECKPOINT_OF_ANOTHER', '', message, 'Use the job that wrote it, or another folder.'));
  if (manifest.optimizer !== optimizer) {
    differs(`the checkpoint was trained with ${manifest.optimizer}, and the job uses ${optimizer}.`);
  }
  for (const [name, shape] of shapes) {
    const saved = manifest.shapes[name];
    if (saved === undefined) differs(`the checkpoint lacks ${quote(name)}.`);
    else if (saved.join() !== shape.join()) {
      differs(`${quote(name)} is [${saved.join(', ')}] in the checkpoint and [${shape.join(', ')}] in the job.`);
    }
  }
  const [kept, asked] = [new Set(manifest.frozen), new Set(frozenOf(placement))];
  for (const name of shapes.keys()) {
    if (kept.has(name) === asked.has(name)) continue;
    const [has, asks] = kept.has(name) ? ['frozen', 'trained'] : ['trained', 'frozen'];
    differs(`${quote(name)} is ${has} in the checkpoint and ${asks} in the job.`);
  }
  const more = Object.keys(manifest.shapes).filter((name) => !shapes.has(name));
  if (more[0] !== undefined) differs(`the checkpoint holds ${quote(more[0])}, which the job does not have.`);
  return issues.slice(0, MOST_ISSUES);
}

/** A file of another model differs in every tensor; a few say it. */
const MOST_ISSUES = 4;
