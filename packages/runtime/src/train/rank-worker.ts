/** @file The thread of one rank. Loaded from built JavaScript; takes one run after another. */
import { parentPort } from 'node:worker_threads';
import { createMachine } from '../interpreter/machine.ts';
import { describeWaiting, failureOf, runRank } from '../interpreter/rank.ts';
import { StoppedError } from '../transport/port.ts';
import type { FromWorker, ToWorker } from './messages.ts';

const say = (message: FromWorker): void => parentPort?.postMessage(message);

function run({ program, rank, options, fabric, origin, patienceMs }: ToWorker): void {
  const clock = (): number => Number(process.hrtime.bigint() - origin);
  const machine = createMachine(program, rank, options, fabric, clock);
  try {
    const steps = runRank(machine, {
      onStep: (step, record) => say({ kind: 'step', rank, step, record }),
      onSaved: (step, files) => say({ kind: 'saved', rank, step, files }),
    });
    for (;;) {
      const seen = machine.port.bell();
      const next = steps.next();
      if (next.done) return say({ kind: 'done', rank, shards: next.value });
      if (machine.port.sleep(seen, patienceMs) === 'timed-out') {
        throw new Error(`nothing came for ${patienceMs / 1000} s: it waits for ${describeWaiting(machine)}`);
      }
    }
  } catch (cause) {
    if (cause instanceof StoppedError) {
      return say({ kind: 'stopped', rank, waitsFor: describeWaiting(machine) });
    }
    machine.port.fail();
    say({ kind: 'failed', failure: failureOf(machine, cause) });
  }
}

parentPort?.on('message', run);
