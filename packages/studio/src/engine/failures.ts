/** @file What failures cost a layout, and what is lost at other intervals between checkpoints. */
import {
  type FailureOptions,
  type Failures,
  failureAssumptions,
  failuresOf,
  type Interrupted,
  type LostAt,
  lostCurve,
} from '@meshwright/core/plan';

/** Everything that the panel shows. */
export interface FailureAnswer {
  readonly failures: Failures;
  readonly curve: readonly LostAt[];
  /** What was assumed, with its source. */
  readonly assumed: readonly { readonly what: string; readonly value: number; readonly source: string }[];
}

export function failureAnswer(job: Interrupted, options: FailureOptions): FailureAnswer {
  const failures = failuresOf(job, options);
  return {
    failures,
    curve: lostCurve(failures),
    assumed: failureAssumptions(options).map(({ what, value, source }) => ({ what, value, source })),
  };
}
