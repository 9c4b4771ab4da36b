/** @file What `run`, `resume` and `verify` say as JSON: a line for each step, and the fields that every report has. */
import { degreesOf, expandList, lifetimesOf, type Program } from '@meshwright/core/program';
import { predictedByAxis, type StepReport, type SupervisedResult } from '@meshwright/runtime';
import type { BytesByAxis } from './run-words.ts';

/** How a run ended: of a rank that stopped, `rank` and `operation` are null where nobody knows them. */
type Ending =
  | 'done'
  | 'interrupted'
  | { readonly rank: number | null; readonly operation: string | null; readonly reason: string };

/** Peaks of the fullest rank in bytes; null where the process took what was counted with it. */
type Peaks = Readonly<Record<'predicted' | 'tracked' | 'arena', number | null>>;

/** The fields that every `meshwright.run/1` has. */
interface RunFields {
  readonly schema: 'meshwright.run/1';
  readonly steps: number;
  readonly losses: readonly number[];
  readonly gradNorms: readonly (number | undefined)[];
  readonly secondsPerStep: readonly number[];
  /** Of all ranks over the whole run. */
  readonly bytes: BytesByAxis;
  readonly peakBytes: Peaks;
  readonly stopped: Ending;
}

/** Fields of a run that told its own end. */
export const fieldsOfRun = (result: SupervisedResult, bytes: BytesByAxis, peakBytes: Peaks): RunFields => ({
  schema: 'meshwright.run/1',
  steps: result.losses.length,
  losses: result.losses,
  gradNorms: result.gradientNorms,
  secondsPerStep: result.secondsPerStep,
  bytes,
  peakBytes,
  stopped:
    typeof result.stopped === 'string'
      ? result.stopped
      : { ...result.stopped, operation: result.stopped.operation ?? null },
});

/** Fields of a run whose process died: what its steps had told, without validations. */
export function fieldsOfSteps(program: Program, steps: readonly StepReport[], stopped: Ending): RunFields {
  const predicted = Object.entries(predictedByAxis(program));
  const moved = (axis: string): number => steps.reduce((sum, { bytes }) => sum + (bytes[axis] ?? 0), 0);
  return {
    schema: 'meshwright.run/1',
    steps: steps.length,
    losses: steps.map(({ loss }) => loss),
    gradNorms: steps.map(({ gradientNorm }) => gradientNorm),
    secondsPerStep: steps.map(({ seconds }) => seconds),
    bytes: Object.fromEntries(
      predicted.map(([axis, bytes]) => [axis, { predicted: bytes * steps.length, moved: moved(axis) }]),
    ),
    peakBytes: { predicted: predictedPeak(program), tracked: null, arena: null },
    stopped,
  };
}

/** Live bytes of the fullest rank at its peak. */
function predictedPeak(program: Program): number {
  const degrees = degreesOf(program);
  return Math.max(0, ...program.lists.map((list) => lifetimesOf(expandList(program, list), degrees).peakBytes));
}

/** One step as a line. */
export const stepJson = (
  { tokens, seconds, ...report }: StepReport,
  more: Readonly<Record<string, string>> = {},
): string =>
  JSON.stringify({ schema: 'meshwright.step/1', ...more, ...report, seconds, tokensPerSecond: tokens / seconds });
