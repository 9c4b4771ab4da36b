/** @file Weights as a folder that Hugging Face libraries read: whole tensors under their names in `model.safetensors`. Read
 * back from that, or from the several files that an index names. Adapters lie in a folder of their own inside, as PEFT has
 * them: libraries that find them beside the weights look for the base elsewhere.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { InputError, type Issue, issue, quote } from '@meshwright/core/errors';
import type { Program } from '@meshwright/core/program';
import { bf16Of } from '../numbers/bf16.ts';
import type { TrainingState } from './load.ts';
import { frozenOf, placementOf, shapesOf } from './placement.ts';
import { damaged, readSafetensors, type Stored, safetensorsChunks, storedValues } from './safetensors.ts';
import { writeDurably } from './shards.ts';

const SINGLE_FILE = 'model.safetensors';
/** The folder of adapters inside that of the weights. */
export const ADAPTER_FOLDER = 'adapter';
const ADAPTER_FILE = 'adapter_model.safetensors';
const LARGEST_FILE = 4 * 2 ** 30;

/** Writes the weights of a checkpoint as float32, and as bf16 what it holds so, into `folder`, which must be empty or absent, and adapters into a folder of
 * their own inside; returns bytes written. */
export function exportWeights(state: TrainingState, folder: string): number {
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    const message = `${quote(folder)} exists and is not empty.`;
    throw new InputError([issue('FILE_EXISTS', '', message, 'Name another folder.')]);
  }
  const frozen = new Set(state.manifest.frozen);
  const names = Object.keys(state.tensors);
  if (frozen.size === 0) return writeTensors(state, names, folder, SINGLE_FILE);
  const isBase = (name: string): boolean => frozen.has(name);
  const adapters = names.filter((name) => !isBase(name));
  return (
    writeTensors(state, names.filter(isBase), folder, SINGLE_FILE) +
    writeTensors(state, adapters, join(folder, ADAPTER_FOLDER), ADAPTER_FILE)
  );
}

function writeTensors(state: TrainingState, names: readonly string[], folder: string, file: string): number {
  mkdirSync(folder, { recursive: true });
  const tensors = names.map((name) => {
    const { shape = [], states, narrow } = state.tensors[name] ?? {};
    const data = Float32Array.from(states?.weights ?? []);
    return { name, shape, data: narrow ? bf16Of(data) : data };
  });
  const path = join(folder, file);
  const { bytes } = writeDurably(`${path}.partial`, safetensorsChunks(tensors, { format: 'pt' }));
  renameSync(`${path}.partial`, path);
  return bytes;
}

/** Whole weights by Hugging Face name. */
export type Weights = Readonly<Record<string, Stored>>;

/** The weights of a model folder for a program: every tensor that it has, in its shape. Tied heads may be left out of a
 * folder or be in it, and so may all adapters, which then begin anew; tensors that the program does not have are refused by
 * name. Throws one InputError. */
export function importWeights(folder: string, program: Program): Weights {
  const placement = placementOf(program);
  const shapes = shapesOf(placement);
  const weights: Record<string, Stored> = {};
  const issues: Issue[] = [];
  for (const name of filesOf(folder)) {
    const path = join(folder, name);
    const bytes = bytesOf(path);
    const read = readSafetensors(bytes, path);
    issues.push(...read.issues);
    for (const tensor of read.tensors) {
      const wanted = wantedName(tensor.name, shapes);
      const shape = shapes.get(wanted);
      if (shape === undefined) {
        if (!isSpare(tensor.name)) issues.push(another(`${quote(tensor.name)} is in the folder and not in the model.`));
      } else if (shape.join() !== tensor.shape.join()) {
        const [has, asks] = [tensor.shape.join(', '), shape.join(', ')];
        issues.push(another(`${quote(tensor.name)} is [${has}] in the folder and [${asks}] in the model.`));
      } else weights[wanted] = sharedCopy(storedValues(bytes, tensor));
    }
  }
  const frozen = new Set(frozenOf(placement));
  const isBase = (name: string): boolean => frozen.has(name);
  const startsAnew = frozen.size > 0 && Object.keys(weights).every(isBase);
  for (const name of shapes.keys()) {
    if (weights[name] === undefined && (isBase(name) || !startsAnew))
      issues.push(another(`the folder lacks ${quote(name)}.`));
  }
  if (issues.length > 0) throw new InputError(issues.slice(0, MOST_ISSUES));
  return weights;
}

const MOST_ISSUES = 4;

const another = (message: string): Issue =>
  issue('CHECKPOINT_OF_ANOTHER', '--from', message, 'Use the model that the weights are of.');

/** Base models are stored without the prefix that their heads bring. */
function wantedName(stored: string, shapes: ReadonlyMap<string, unknown>): string {
  if (shapes.has(stored)) return stored;
  return [`transformer.${stored}`, `model.${stored}`].find((name) => shapes.has(name)) ?? stored;
}

/** Tied heads, and buffers that old exports hold: the causal mask and the rotary frequencies. */
const isSpare = (name: string): boolean =>
  /(^lm_head\.weight|\.attn\.(masked_)?bias|\.rotary_emb\.inv_freq)$/.test(name);

/** The files of a folder: its weights, and adapters where it has some. */
function filesOf(folder: string): readonly string[] {
  const adapters = join(ADAPTER_FOLDER, ADAPTER_FILE);
  return [...weightFilesOf(folder), ...(existsSync(join(folder, adapters)) ? [adapters] : [])];
}

/** One, or those of the index. */
function weightFilesOf(folder: string): readonly string[] {
  const index = `${SINGLE_FILE}.index.json`;
  if (existsSync(join(folder, SINGLE_FILE))) return [SINGLE_FILE];
  if (!existsSync(join(folder, index))) {
    const message = `${quote(folder)} has no ${SINGLE_FILE} and no ${index}.`;
    throw new InputError([issue('FILE_NOT_FOUND', '--from', message, 'Name a folder of Hugging Face weights.')]);
  }
  const names = namesOfIndex(new TextDecoder().decode(bytesOf(join(folder, index))));
  if (names) return names;
  throw new InputError([damaged(join(folder, index), 'it is no map from tensors to files of the folder.')]);
}

function namesOfIndex(text: string): readonly string[] | undefined {
  try {
    const { weight_map: map } = JSON.parse(text) as { readonly weight_map?: unknown };
    const names = [...new Set(Object.values(map as object))];
    return names.length > 0 && names.every(isFileName) ? names : undefined;
  } catch {
    return undefined;
  }
}

/** No path leads out of the folder. */
const isFileName = (name: unknown): name is string => typeof name === 'string' && /^[\w.-]+\.safetensors$/.test(name);

function bytesOf(path: string): Uint8Array {
  const refuse = (message: string): InputError => new InputError([damaged(path, message)]);
  if (!existsSync(path)) throw refuse('it is not there.');
  const status = statSync(path);
  if (!status.isFile() || status.size > LARGEST_FILE) throw refuse(`it is no file of at most ${LARGEST_FILE} bytes.`);
  const bytes = readFileSync(path);
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** In memory that threads share. */
function sharedCopy(values: Stored): Stored {
  const memory = new SharedArrayBuffer(values.byteLength);
  const copy = values instanceof Float64Array ? new Float64Array(memory) : new Float32Array(memory);
  copy.set(values);
  return copy;
}
