/** @file The threads that ranks run in. They start once and take one run after another. */
import { Worker } from 'node:worker_threads';
import type { Program } from '@meshwright/core/program';
import { expandList } from '@meshwright/core/program';
import type { Fabric, RunOptions } from '../interpreter/machine.ts';
import { describeOperation, type RunFailure } from '../interpreter/rank.ts';
import { listOf, seatOf } from '../place/seat.ts';
import { progressWord } from '../transport/fabric.ts';
import { openPort } from '../transport/port.ts';
import type { FromWorker } from './messages.ts';
import type { HostOutcome, RankOutcome } from './outcome.ts';

export interface PoolRun {
  readonly program: Program;
  readonly options: RunOptions;
  readonly fabric: Fabric;
  readonly patienceMs: number;
}

export interface RankPool {
  /** Runs a program, one rank a thread; starts threads that are missing. One run at a time. */
  readonly run: (run: PoolRun) => Promise<HostOutcome>;
  readonly close: () => Promise<void>;
}

/** A thread cannot load TypeScript on Node 20, so tests on sources take the built worker. */
const workerUrl = import.meta.url.endsWith('.ts')
  ? new URL('../../dist/train/rank-worker.js', import.meta.url)
  : new URL('./rank-worker.js', import.meta.url);

export function createRankPool(): RankPool {
  const workers: (Worker | undefined)[] = [];
  return {
    run: (run) => {
      const { ranks } = run.fabric.plan;
      for (let rank = 0; rank < ranks; rank++) workers[rank] ??= new Worker(workerUrl);
      return runOnce(run, workers);
    },
    close: async () => {
      await Promise.all(workers.splice(0).map((worker) => worker?.terminate()));
    },
  };
}

/** Ends when every rank has said its last word. A thread that dies is replaced in the next run. */
function runOnce(run: PoolRun, workers: (Worker | undefined)[]): Promise<HostOutcome> {
  const { program, options, fabric, patienceMs } = run;
  const { ranks } = fabric.plan;
  const outcomes = Array.from({ length: ranks }, (_, rank): RankOutcome => ({ rank, records: [], shards: {} }));
  let failure: RunFailure | undefined;
  return new Promise((resolve) => {
    let running = ranks;
    const origin = process.hrtime.bigint();
    for (let rank = 0; rank < ranks; rank++) {
      const worker = workers[rank]!;
      const end = (): void => {
        worker.removeAllListeners();
        running -= 1;
        if (running === 0) resolve({ stopped: failure ?? 'done', ranks: outcomes });
      };
      worker.on('message', (message: FromWorker) => {
        if (message.kind === 'step') return void outcomes[rank]!.records.push(message.record);
        if (message.kind === 'done') outcomes[rank] = { ...outcomes[rank]!, shards: message.shards };
        if (message.kind === 'failed') failure ??= message.failure;
        end();
      });
      worker.on('error', (error) => {
        failure ??= deathOf(run, rank, error.message);
      });
      worker.on('exit', (code) => {
        workers[rank] = undefined;
        failure ??= deathOf(run, rank, `its thread ended with code ${code}`);
        openPort(fabric.plan, fabric.memory, rank).fail();
        end();
      });
      worker.postMessage({ program, rank, options, fabric, origin, patienceMs });
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
