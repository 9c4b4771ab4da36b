/** @file Models from files: a Hugging Face `config.json`, with every issue at its place. */
import { type Issue, issue, quote } from '../errors/index.ts';
import {
  type ModelResult,
  modelFromConfig,
  modelFromDimensions,
  modelFromPreset,
  presetNames,
} from '../model/index.ts';
import { LONGEST_CONFIG, placeIssue, readDocument } from './document.ts';

/** A file that cannot be read, with the reason as it stands after its name: `does not exist`. */
export interface Unreadable {
  readonly unreadable: string;
}

/** Gives the text of a file, or why it cannot be read (undefined: no reason is known); it does not throw. `from` is the
 * file that names it. */
export type LoadFile = (path: string, from: string) => string | Unreadable | undefined;

/** What readers may need from outside. */
export interface ReadOptions {
  /** Absent: files that a job names cannot be read, and are reported. */
  readonly loadFile?: LoadFile;
}

/** The model of the text of a `config.json`; all issues carry positions. */
export function readModelConfig(text: string, file: string): ModelResult {
  const { document, issues } = readDocument(text, file, LONGEST_CONFIG);
  if (!document) return { issues };
  const { model, issues: found } = modelFromConfig(document.value, { name: nameFromPath(file) });
  const all = [...issues, ...found.map((each) => placeIssue(document, each))];
  return hasErrors(all) || !model ? { issues: all } : { model, issues: all };
}

/** The model that a job file names: a preset, the path of a `config.json`, or dimensions. */
export function modelFromRequest(request: unknown, path: string, from: string, options: ReadOptions): ModelResult {
  if (typeof request !== 'string') return modelFromDimensions(request, path);
  if (!isPath(request) || (presetNames as readonly string[]).includes(request)) return modelFromPreset(request, path);
  const text = options.loadFile?.(request, from);
  return typeof text === 'string' ? readModelConfig(text, request) : { issues: [fileMissing(request, path, text)] };
}

/** True for text that names a file rather than a preset. */
export const isPath = (text: string): boolean => /[\\/]|\.(json|ya?ml)$/.test(text);

/** The issue that a file which is named at `path` cannot be read. */
export const fileMissing = (file: string, path: string, why?: Unreadable): Issue => {
  const message = `${quote(file)} ${why?.unreadable ?? 'cannot be read'}.`;
  return issue('FILE_NOT_FOUND', path, message, 'Check the path; it is relative to the job file.');
};

/** True when one of the issues is an error. */
export const hasErrors = (issues: readonly Issue[]): boolean => issues.some((each) => each.severity === 'error');

/** `models/My-7B/config.json` is `My-7B`, `jobs/toy.yaml` is `toy`. */
export function nameFromPath(file: string): string {
  const parts = file.split(/[\\/]/).filter((part) => part !== '');
  const stem = (parts.at(-1) ?? 'model').replace(/\.(json|ya?ml)$/, '');
  return stem === 'config' ? (parts.at(-2) ?? 'model') : stem;
}
