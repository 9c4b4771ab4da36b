/** @file What a supervisor and the process of the ranks tell each other. */
import type { Issue } from '@meshwright/core/errors';
import type { Program } from '@meshwright/core/program';
import type { Corpus, TokenArray } from '../tokens/corpus.ts';
import type { CheckpointOptions } from '../train/checkpoints.ts';
import type { StepReport } from '../train/step-report.ts';
import type { RunResult, TrainOptions } from '../train/train-program.ts';

/** Tokens in memory of one process. */
export type PlainCorpus = Omit<Corpus, 'tokens'> & { readonly tokens: TokenArray };

/** A run as it travels between processes: what is large is read by the process that needs it. */
export interface SupervisedOptions
  extends Pick<
    TrainOptions,
    'steps' | 'seed' | 'learningRate' | 'validateEvery' | 'initialDeviation' | 'kernels' | 'patienceMs' | 'drill'
  > {
  readonly corpus?: PlainCorpus | undefined;
  readonly checkpoints?: Omit<CheckpointOptions, 'onSaved'> | undefined;
  /** The checkpoint to go on from. */
  readonly from?: { readonly folder: string; readonly step: number } | undefined;
  /** A folder of Hugging Face weights to start from. */
  readonly weights?: string | undefined;
}

export type ToProcess =
  | {
      readonly kind: 'run';
      readonly program: Program;
      readonly options: SupervisedOptions;
      readonly heartbeat: string;
    }
  /** End after the step that the run is in. */
  | { readonly kind: 'end' };

/** A result without whole tensors, which stay in the process. */
export type SupervisedResult = Omit<RunResult, 'gradients' | 'parameters'>;

export type FromProcess =
  | { readonly kind: 'step'; readonly report: StepReport }
  | { readonly kind: 'saved'; readonly step: number }
  | { readonly kind: 'ended'; readonly result: SupervisedResult }
  /** What the user got wrong. */
  | { readonly kind: 'refused'; readonly issues: readonly Issue[] }
  /** What we got wrong. */
  | { readonly kind: 'failed'; readonly message: string };
