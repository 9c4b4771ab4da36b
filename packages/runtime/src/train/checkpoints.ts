/** @file The host's part of checkpoints: the index of what the ranks have written, and what makes it complete. */
import type { Program } from '@meshwright/core/program';
import { completeCheckpoint, removeOld } from '../checkpoint/folder.ts';
import { type DataMark, type Manifest, sha256Of } from '../checkpoint/manifest.ts';
import type { Corpus } from '../tokens/corpus.ts';

/** Where and when a run writes what it needs to go on. */
export interface CheckpointOptions {
  readonly folder: string;
  /** A checkpoint follows each step that this divides, and the last one, be it by interruption. */
  readonly every: number;
  /** Older ones are removed when there are more; absent: all stay. */
  readonly keep?: number;
  /** What the caller wants back when the run goes on. */
  readonly settings?: Manifest['settings'];
  /** The last rank has written it, and it is complete. */
  readonly onSaved?: (step: number) => void;
}

/** Makes a checkpoint of the files of all ranks. */
export function complete(
  program: Program,
  { folder, keep, settings = {}, onSaved }: CheckpointOptions,
  { step, files, ...about }: Pick<Manifest, 'step' | 'seed' | 'data' | 'shapes' | 'frozen' | 'files'>,
): void {
  const { optimizer } = program;
  completeCheckpoint(folder, { step, optimizer, ...about, settings, files });
  if (keep !== undefined) removeOld(folder, keep);
  onSaved?.(step);
}

/** What tells one corpus from another. */
export const markOf = ({ name, tokens }: Corpus): DataMark => ({
  name,
  tokens: tokens.length,
  sha256: sha256Of(new Uint8Array(tokens.buffer)),
});
