/** @file The process that hosts the threads of the ranks. It ends when its supervisor says so or is gone; Ctrl-C reaches all
 * processes of a terminal, and only the supervisor acts on it. Loaded from built JavaScript.
 */
import { InputError } from '@meshwright/core/errors';
import { importWeights } from '../checkpoint/hugging-face.ts';
import { loadCheckpoint } from '../checkpoint/load.ts';
import { sharedTokens } from '../tokens/corpus.ts';
import { trainProgram } from '../train/train-program.ts';
import { openHeartbeat } from './heartbeat.ts';
import type { FromProcess, ToProcess } from './messages.ts';

const say = (message: FromProcess): Promise<void> =>
  new Promise((resolve) => {
    if (process.connected) process.send?.(message, () => resolve());
    else resolve();
  });

const interruption = new AbortController();

process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit());
process.on('message', (message: ToProcess) => {
  if (message.kind === 'end') interruption.abort();
  else void run(message).then(() => process.disconnect());
});

async function run({ program, options, heartbeat }: ToProcess & { readonly kind: 'run' }): Promise<void> {
  const { corpus, from, weights, checkpoints, ...settings } = options;
  const heart = openHeartbeat(heartbeat);
  try {
    const result = await trainProgram(program, {
      ...settings,
      signal: interruption.signal,
      ...(corpus && { corpus: { ...corpus, tokens: sharedTokens(corpus.tokens) } }),
      ...(from && { from: loadCheckpoint(from.folder, from.step) }),
      ...(weights !== undefined && { initial: importWeights(weights, program) }),
      ...(checkpoints && { checkpoints: { ...checkpoints, onSaved: (step) => void say({ kind: 'saved', step }) } }),
      onStep: (report) => {
        heart.beat(report.step);
        void say({ kind: 'step', report });
      },
    });
    const { gradients: _gradients, parameters: _parameters, ...rest } = result;
    await say({ kind: 'ended', result: rest });
  } catch (error) {
    if (error instanceof InputError) await say({ kind: 'refused', issues: error.issues });
    else
      await say({ kind: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  } finally {
    heart.close();
  }
}
