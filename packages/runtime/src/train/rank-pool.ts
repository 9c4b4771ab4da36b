/** @file The threads that ranks run in. They start once and take one run after another. */
import { Worker } from 'node:worker_threads';
import { expandList, type Program } from '@meshwright/core/program';
import type { Fabric, RunOptions } from '../interpreter/machine.ts';
import { describeOperation, type RunFailure } from '../interpreter/rank.ts';
import { listOf, seatOf } from '../place/seat.ts';
import { progressWord } from '../transport/fabric.ts';
import { openPort } from '../transport/port.ts';
import type { FromWorker, ToWorker } from './messages.ts';
import { gatherOutcomes, type HostListener, type HostOutcome } from './outcome.ts';

export interface PoolRun {
  readonly program: Program;
  readonly options: RunOptions;
  readonly fabric: Fabric;
  readonly patienceMs: number;
  readonly listener: HostListener;
}

export interface RankPool {
  /** Runs a program, one rank a thread; starts threads that are missing. Runs wait for one another. */
  readonly run: (run: PoolRun) => Promise<HostOutcome>;
  /** Ends the thread of one rank at once, as an operating system would: the run stops and says so. */
  readonly terminate: (rank: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** A thread cannot load TypeScript on Node 20, so tests on sources take the built worker. */
const workerUrl = import.meta.url.endsWith('.ts')
  ? new URL('../../dist/train/rank-worker.js', import.meta.url)
  : new URL('./rank-worker.js', import.meta.url);

/** What a thread says, or that it died. */
type Word = FromWorker | { readonly kind: 'died'; readonly reason: string };

interface Thread {
  readonly worker: Worker;
  /** Who hears it: the run that it is in. */
  hear: (word: Word) => void;
  alive: boolean;
}

/** Without the flags of this process: a test runner's export conditions would lead the thread to sources. */
function startThread(): Thread {
  const worker = new Worker(workerUrl, { execArgv: [] });
  const thread: Thread = { worker, hear: () => undefined, alive: true };
  const die = (reason: string): void => {
    if (!thread.alive) return;
    thread.alive = false;
    thread.hear({ kind: 'died', reason });
  };
  worker.on('message', (word: FromWorker) => thread.hear(word));
  worker.on('error', (error) => die(error.message));
  worker.on('exit', (code) => die(`its thread ended with code ${code}`));
  return thread;
}

export function createRankPool(): RankPool {
  let threads: Thread[] = [];
  let running: Promise<unknown> = Promise.resolve();
  return {
    run: (run) => {
      const start = (): Promise<HostOutcome> => {
        threads = Array.from({ length: Math.max(run.fabric.plan.ranks, threads.length) }, (_, rank) => {
          const known = threads[rank];
          return known?.alive ? known : startThread();
        });
        return runOnce(run, threads);
      };
      const outcome = running.then(start);
      running = outcome.catch(() => undefined);
      return outcome;
    },
    terminate: async (rank) => {
      await threads[rank]?.worker.terminate();
    },
    close: async () => {
      await Promise.all(threads.splice(0).map(({ worker }) => worker.terminate()));
    },
  };
}

/** Ends when every rank has said its last word. A thread that dies is replaced in the next run. */
function runOnce(run: PoolRun, threads: readonly Thread[]): Promise<HostOutcome> {
  const { program, options, fabric, patienceMs } = run;
  const { ranks } = fabric.plan;
  const gathering = gatherOutcomes(ranks, run.listener);
  const outcomes = gathering.ranks;
  let failure: RunFailure | undefined;
  const waiting: { rank: number; for: string }[] = [];
  return new Promise((resolve) => {
    let running = ranks;
    const origin = process.hrtime.bigint();
    for (const [rank, thread] of threads.slice(0, ranks).entries()) {
      thread.hear = (word) => {
        if (word.kind === 'step') return gathering.step(rank, word.step, word.record);
        if (word.kind === 'saved') {
          const unsaved = gathering.saved(word.step, word.files);
          if (unsaved === undefined) return;
          failure ??= unsaved;
          return openPort(fabric.plan, fabric.memory, rank).fail();
        }
        if (word.kind === 'done') outcomes[rank] = { ...outcomes[rank]!, shards: word.shards };
        if (word.kind === 'stopped') waiting.push({ rank, for: word.waitsFor });
        if (word.kind === 'failed') failure ??= word.failure;
        if (word.kind === 'died') {
          failure ??= deathOf(run, rank, word.reason);
          openPort(fabric.plan, fabric.memory, rank).fail();
        }
        thread.hear = () => undefined;
        running -= 1;
        if (running === 0) resolve({ stopped: failure ? { ...failure, waiting } : 'done', ranks: outcomes });
      };
      thread.worker.postMessage({ program, rank, options, fabric, origin, patienceMs } satisfies ToWorker);
    }
  });
}

/** A rank that died without a word: the operation that it was at is in shared memory. */
function deathOf({ program, fabric }: PoolRun, rank: number, reason: string): RunFailure {
  const index = Atomics.load(new Int32Array(fabric.memory.control), progressWord(rank));
  const { operations } = expandList(program, listOf(program, seatOf(program, rank)));
  const operation = operations[index];
  return { rank, operation: operation && describeOperation(operation), reason };
}
