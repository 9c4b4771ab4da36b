import { type Issue, issue, warning } from '../errors/index.ts';
import type { ModelSpec } from '../model/index.ts';
import type { BatchSpec } from './types.ts';

/** A batch as people give it: in sequences or in tokens. */
export interface BatchInput {
  readonly sequences?: number | undefined;
  readonly tokens?: number | undefined;
  /** Tokens of one sequence. */
  readonly length: number;
  /** Largest batch in tokens that still trains well; absent when nobody knows. */
  readonly maxTokens?: number | undefined;
}

/** `batch` is present exactly when no issue is an error. */
export interface BatchResult {
  readonly batch?: BatchSpec;
  readonly issues: readonly Issue[];
}

/** Tokens of the global batch. */
export const batchTokens = (batch: BatchSpec): number => batch.sequences * batch.length;

/** The batch of positive whole numbers; tokens that are no whole number of sequences are refused with the two nearest. */
export function batchOf(input: BatchInput, path: string): BatchResult {
  const { sequences, tokens, length, maxTokens } = input;
  if (sequences === undefined && tokens === undefined) {
    const message = 'the size of the batch is not given.';
    return { issues: [issue('KEY_MISSING', `${path}.sequences`, message, 'Add it, for example sequences: 512.')] };
  }
  if (sequences !== undefined && tokens !== undefined && sequences * length !== tokens) {
    const message = `${sequences} sequences of ${length} are ${sequences * length} tokens, and tokens says ${tokens}.`;
    const values = { sequences, length, tokens };
    return { issues: [issue('BATCH_CONTRADICTS', `${path}.tokens`, message, 'Keep one of the two.', values)] };
  }
  const whole = sequences ?? (tokens ?? 0) / length;
  if (!Number.isInteger(whole)) return { issues: [notAMultiple(tokens ?? 0, length, `${path}.tokens`)] };
  if (!Number.isSafeInteger(whole * length)) {
    const message = `${whole} sequences of ${length} are more tokens than are counted exactly.`;
    return { issues: [issue('VALUE_OUT_OF_RANGE', `${path}.sequences`, message, 'Use fewer sequences.')] };
  }
  return { batch: Object.freeze({ sequences: whole, length, maxTokens }), issues: [] };
}

function notAMultiple(tokens: number, length: number, path: string): Issue {
  const below = Math.floor(tokens / length);
  const nearest = below === 0 ? [1] : [below, below + 1];
  const choices = nearest.map((each) => `${each * length} (${each} ${each === 1 ? 'sequence' : 'sequences'})`);
  const message = `${tokens} tokens are not a whole number of sequences of ${length}.`;
  const values = { tokens, length, nearest: nearest.map((each) => each * length) };
  return issue('BATCH_NOT_A_MULTIPLE', path, message, `Use ${choices.join(' or ')}.`, values);
}

/** What is wrong or risky about this batch for this model. */
export function checkBatch(batch: BatchSpec, model: ModelSpec, path: string): readonly Issue[] {
  return [...checkLength(batch, model, `${path}.length`), ...checkLimit(batch, path)];
}

function checkLength({ length }: BatchSpec, model: ModelSpec, path: string): readonly Issue[] {
  const { learnedPositions, maxLength, lengthAssumed } = model;
  if (learnedPositions !== undefined && length > learnedPositions) {
    const message = `sequences of ${length} are longer than the ${learnedPositions} learned positions of ${model.name}.`;
    const hint = `Use at most ${learnedPositions}${lengthAssumed ? `, or give the model its positions: ${learnedPositions} is assumed` : ''}.`;
    return [issue('LENGTH_OVER_POSITIONS', path, message, hint, { length, learnedPositions })];
  }
  if (length <= maxLength) return [];
  if (lengthAssumed) {
    const usual = `sequences of ${length} are longer than the ${maxLength} that models of this kind usually take; ${model.name} states none.`;
    const instead = 'Give the model its positions.';
    return [{ ...warning('LENGTH_OVER_MODEL', path, usual, instead, { length, maxLength }), severity: 'note' }];
  }
  const message = `sequences of ${length} are longer than the ${maxLength} that ${model.name} states.`;
  const hint = `Use at most ${maxLength} unless you extend the context on purpose.`;
  return [warning('LENGTH_OVER_MODEL', path, message, hint, { length, maxLength })];
}

function checkLimit(batch: BatchSpec, path: string): readonly Issue[] {
  const { maxTokens, length } = batch;
  const tokens = batchTokens(batch);
  if (maxTokens === undefined || tokens <= maxTokens) return [];
  const fits = Math.max(1, Math.floor(maxTokens / length));
  const message = `a batch of ${tokens} tokens is larger than the ${maxTokens} that still train well.`;
  const hint = `Use at most ${fits} sequences, or raise batch.max.`;
  return [warning('BATCH_BEYOND_LIMIT', `${path}.max`, message, hint, { tokens, maxTokens })];
}
