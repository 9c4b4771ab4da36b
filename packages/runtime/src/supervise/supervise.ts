/** @file Runs a program in a process of its own and lives on when that dies: by a signal, for want of memory, or by a fault
 * of ours. What it knows then is the last step of the heartbeat file and the last complete checkpoint.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { InputError } from '@meshwright/core/errors';
import type { Program } from '@meshwright/core/program';
import type { StepReport } from '../train/step-report.ts';
import type { StopSignal } from '../train/stop-signal.ts';
import { createHeartbeat, lastBeat, removeHeartbeat } from './heartbeat.ts';
import type { FromProcess, SupervisedOptions, SupervisedResult, ToProcess } from './messages.ts';

/** The process of the ranks ended before the run did. */
export interface ProcessDeath {
  /** `SIGKILL`, ...; undefined where it ended by itself. */
  readonly signal: string | undefined;
  readonly exitCode: number | undefined;
  /** The last step that all ranks had completed; that before the first one where there was none. */
  readonly lastStep: number;
  /** The last that it wrote to its error stream. */
  readonly lastWords: string;
}

/** How a supervised run came to its end. */
export type Supervised =
  | { readonly kind: 'ended'; readonly result: SupervisedResult }
  | { readonly kind: 'died'; readonly death: ProcessDeath };

export interface SupervisionListener {
  readonly onStep?: (report: StepReport) => void;
  /** A checkpoint is complete. */
  readonly onSaved?: (step: number) => void;
  /** The process of the ranks is there. */
  readonly onStart?: (process: number) => void;
  /** Aborted: the run ends after the step that it is in. */
  readonly signal?: StopSignal;
}

/** A process cannot start from TypeScript on Node 20, so tests on sources take the built one. */
const processUrl = import.meta.url.endsWith('.ts')
  ? new URL('../../dist/supervise/process-worker.js', import.meta.url)
  : new URL('./process-worker.js', import.meta.url);

const MOST_WORDS = 2000;

/** Trains in a process of its own. Throws one InputError with all that keeps the program from being run. */
export async function superviseProgram(
  program: Program,
  options: SupervisedOptions,
  listener: SupervisionListener = {},
): Promise<Supervised> {
  const heartbeat = createHeartbeat(options.from?.step ?? 0);
  try {
    return await superviseProcess(program, options, heartbeat, listener);
  } finally {
    removeHeartbeat(heartbeat);
  }
}

function superviseProcess(
  program: Program,
  options: SupervisedOptions,
  heartbeat: string,
  { onStep, onSaved, onStart, signal }: SupervisionListener,
): Promise<Supervised> {
  const child = fork(processUrl, {
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  let lastWords = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    lastWords = (lastWords + text).slice(-MOST_WORDS);
  });
  if (child.pid !== undefined) onStart?.(child.pid);
  const end = (): void => tell(child, { kind: 'end' });
  signal?.addEventListener('abort', end);
  tell(child, { kind: 'run', program, options: { ...options, ...travelling(options) }, heartbeat });
  if (signal?.aborted) end();
  return new Promise<Supervised>((resolve, reject) => {
    let last: FromProcess | undefined;
    child.on('message', (message: FromProcess) => {
      if (message.kind === 'step') onStep?.(message.report);
      else if (message.kind === 'saved') onSaved?.(message.step);
      else last = message;
    });
    child.on('error', reject);
    child.on('close', (code, deathSignal) => {
      signal?.removeEventListener('abort', end);
      if (last?.kind === 'ended') return resolve({ kind: 'ended', result: last.result });
      if (last?.kind === 'refused') return reject(new InputError(last.issues));
      if (last?.kind === 'failed') return reject(new Error(last.message));
      const exitCode = code ?? undefined;
      const death = { signal: deathSignal ?? undefined, exitCode, lastStep: lastBeat(heartbeat), lastWords };
      return resolve({ kind: 'died', death });
    });
  });
}

/** A process that has just died hears nothing, which is no error: its end is told by its `close`. */
function tell(child: ChildProcess, message: ToProcess): void {
  if (child.connected) child.send(message, () => undefined);
}

/** Shared memory does not leave its process. */
const travelling = ({ corpus }: SupervisedOptions): Pick<SupervisedOptions, 'corpus'> =>
  corpus ? { corpus: { ...corpus, tokens: corpus.tokens.slice() } } : {};
