/** @file The index of a checkpoint: what it is of, which tensors it holds, and which file holds which elements of them. It is
 * checked as a file from a stranger: each element of each tensor must be in exactly one place.
 */
import { createHash } from 'node:crypto';
import type { Issue } from '@meshwright/core/errors';
import type { BufferDeclaration } from '@meshwright/core/program';
import { elementsOfRuns, type Run } from './runs.ts';
import { damaged } from './safetensors.ts';

/** What is kept for each element: the parameter, and what the optimizer remembers. */
export const states = ['weights', 'm', 'v', 'momentum'] as const;
export type State = (typeof states)[number];

/** What a buffer of the optimizer holds: `O.<bucket>.master` are parameters in full precision. */
export function stateOf({ name }: BufferDeclaration): State {
  const kind = name.slice(name.lastIndexOf('.') + 1);
  return states.find((state) => state === kind) ?? 'weights';
}

/** A file of one rank and one state: pieces of tensors under their Hugging Face names. */
export interface ShardFile {
  readonly name: string;
  readonly state: State;
  readonly bytes: number;
  readonly sha256: string;
  readonly tensors: Readonly<Record<string, readonly Run[]>>;
}

/** Which tokens a run is trained on; samples are found from seed and step alone. */
export interface DataMark {
  readonly name: string;
  readonly tokens: number;
  readonly sha256: string;
}

export interface Manifest {
  /** The last step that is in the checkpoint. */
  readonly step: number;
  /** Of weights, samples and dropout: the whole state of randomness, together with the step. */
  readonly seed: number;
  readonly optimizer: 'adamw' | 'sgd';
  /** Undefined: tokens drawn from the seed. */
  readonly data?: DataMark | undefined;
  /** What the caller wants back when the run goes on. */
  readonly settings: Readonly<Record<string, number | string | boolean>>;
  readonly shapes: Readonly<Record<string, readonly number[]>>;
  /** Tensors that are not trained, of which there are weights alone; absent: all are trained. */
  readonly frozen?: readonly string[] | undefined;
  readonly files: readonly ShardFile[];
}

const SCHEMA = 'meshwright.checkpoint/1';
export const MANIFEST_FILE = 'checkpoint.json';
export const LARGEST_MANIFEST: number = 64 << 20;

export const sha256Of = (...pieces: readonly (Uint8Array | string)[]): string => {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
};

/** The text of a manifest, with its own hash. */
export function manifestText(manifest: Manifest): string {
  const content = JSON.stringify(manifest);
  return `{"schema":"${SCHEMA}","sha256":"${sha256Of(content)}","content":${content}}\n`;
}

/** A manifest from its text, or all that is wrong with it. */
export function readManifest(
  text: string,
  file: string,
): { readonly manifest?: Manifest; readonly issues: readonly Issue[] } {
  const wrong = (message: string) => ({ issues: [damaged(file, message)] });
  const outer = parsed(text);
  if (!isObject(outer) || outer['schema'] !== SCHEMA) return wrong(`it is no ${SCHEMA}.`);
  const { content, sha256 } = outer;
  if (sha256 !== sha256Of(JSON.stringify(content) ?? '')) return wrong('what it says has not the hash that it says.');
  if (!isManifest(content)) return wrong('it lacks a key, or one has a value of another kind.');
  const issues = [...fileIssues(content, file), ...coverageIssues(content, file)];
  return issues.length > 0 ? { issues } : { manifest: content, issues };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Fields = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: unknown): value is string => typeof value === 'string';
const isList = <Value>(value: unknown, is: (each: unknown) => each is Value): value is readonly Value[] =>
  Array.isArray(value) && value.every(is);
const isTable = <Value>(
  value: unknown,
  is: (each: unknown) => each is Value,
): value is Readonly<Record<string, Value>> => isObject(value) && Object.values(value).every(is);
const isShape = (value: unknown): value is readonly number[] => isList(value, isCount);
const isRun = (value: unknown): value is Run => isShape(value) && value.length === 4;
const isRuns = (value: unknown): value is readonly Run[] => isList(value, isRun);
const isSetting = (value: unknown): value is number | string | boolean =>
  ['number', 'string', 'boolean'].includes(typeof value);
const isData = (value: unknown): value is DataMark =>
  isObject(value) && isText(value['name']) && isCount(value['tokens']) && isText(value['sha256']);
const isState = (value: unknown): value is State => states.some((state) => state === value);
const isFile = (value: unknown): value is ShardFile =>
  isObject(value) &&
  isText(value['name']) &&
  isState(value['state']) &&
  isCount(value['bytes']) &&
  isText(value['sha256']) &&
  isTable(value['tensors'], isRuns);

const isManifest = (value: unknown): value is Manifest =>
  isObject(value) &&
  isCount(value['step']) &&
  isCount(value['seed']) &&
  (value['optimizer'] === 'adamw' || value['optimizer'] === 'sgd') &&
  (value['data'] === undefined || isData(value['data'])) &&
  isTable(value['settings'], isSetting) &&
  isTable(value['shapes'], isShape) &&
  (value['frozen'] === undefined || isList(value['frozen'], isText)) &&
  isList(value['files'], isFile);

/** Files are named by us: no path leads out of the folder, and no file is named twice. */
const FILE_NAME = /^rank-\d{4,6}\.(weights|m|v|momentum)\.safetensors$/;

function fileIssues({ files }: Manifest, file: string): readonly Issue[] {
  const names = files.map(({ name }) => name);
  const strange = names.find((name) => !FILE_NAME.test(name));
  if (strange !== undefined) return [damaged(file, `it names the file ${JSON.stringify(strange.slice(0, 80))}.`)];
  if (new Set(names).size < names.length) return [damaged(file, 'it names a file twice.')];
  return [];
}

/** States that an optimizer keeps. */
const statesOf = (optimizer: Manifest['optimizer']): readonly State[] =>
  optimizer === 'adamw' ? ['weights', 'm', 'v'] : ['weights', 'momentum'];

/** Every element of every tensor lies in one file of each of its states: nothing is missing, out of bounds, there twice, or of
 * a state that it has not. */
function coverageIssues({ files, shapes, frozen = [], optimizer }: Manifest, file: string): readonly Issue[] {
  const stored = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const sizes = Object.entries(shapes).map(([tensor, shape]) => [tensor, elementsOf(shape)] as const);
  if (sizes.reduce((sum, [, size]) => sum + size, 0) > stored) {
    return [damaged(file, 'its tensors have more elements than its files have bytes.')];
  }
  const untrained = new Set(frozen);
  const kept = (tensor: string): readonly State[] => (untrained.has(tensor) ? ['weights'] : statesOf(optimizer));
  for (const [tensor, size] of sizes) {
    for (const state of kept(tensor)) {
      const runs = files.flatMap((each) => (each.state === state ? (each.tensors[tensor] ?? []) : []));
      const fault = coverageFault(runs, size);
      if (fault !== undefined) return [damaged(file, `the pieces of ${tensor} (${state}) ${fault}.`)];
    }
  }
  const pieces = files.flatMap(({ state, tensors }) => Object.keys(tensors).map((tensor) => ({ state, tensor })));
  const named = [...pieces.map(({ tensor }) => tensor), ...frozen];
  const unknown = named.find((name) => !Object.hasOwn(shapes, name));
  if (unknown !== undefined) return [damaged(file, `it names ${JSON.stringify(unknown)}, which has no shape.`)];
  const more = pieces.find(({ state, tensor }) => !kept(tensor).includes(state));
  return more === undefined ? [] : [damaged(file, `a file holds ${more.state} of ${more.tensor}, which has none.`)];
}

const elementsOf = (shape: readonly number[]): number => shape.reduce((product, each) => product * each, 1);

function coverageFault(runs: readonly Run[], size: number): string | undefined {
  for (const [start, length, stride, count] of runs) {
    if (length < 1 || count < 1 || stride < length) return 'have a run that goes nowhere';
    if (start + stride * (count - 1) + length > size) return 'reach behind its end';
  }
  const elements = elementsOfRuns(runs);
  if (elements !== size) return `are ${elements} elements of ${size}`;
  const seen = new Uint8Array(size);
  for (const [start, length, stride, count] of runs) {
    for (let row = 0; row < count; row++) {
      const from = start + row * stride;
      const free = seen.subarray(from, from + length);
      if (free.includes(1)) return 'overlap';
      free.fill(1);
    }
  }
  return undefined;
}
