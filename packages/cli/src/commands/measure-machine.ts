/** @file Measures this machine: its kernels on programs of one rank, its exchanges between ranks. */
import { availableParallelism, cpus, totalmem } from 'node:os';
import type { MachineSamples } from '@meshwright/core/calibrate';
import { type KernelEngine, measureExchanges, measureKernels } from '@meshwright/runtime';
import { count } from '../output/numbers.ts';
import { calibrationPrograms } from './calibrate-programs.ts';

/** Bytes of the full buffers of the exchanges that are measured. */
export const EXCHANGE_SIZES: readonly number[] = [2 ** 10, 2 ** 14, 2 ** 17, 2 ** 20, 2 ** 22];

/** What is measured, and how often. */
export interface MachineSettings {
  /** Of the cluster; exchanges are measured between 2, 4, ... up to so many. */
  readonly ranks: number;
  /** Steps of each program; of each operation the fastest counts. */
  readonly steps: number;
  readonly kernels: KernelEngine;
  readonly onProgress?: (what: string, done: number, all: number) => void;
}

/** Seconds of kernels and exchanges on this machine, as `machineText` writes them into a cluster file. */
export async function measureMachine({ ranks, steps, kernels, onProgress }: MachineSettings): Promise<MachineSamples> {
  const cores = availableParallelism();
  const saying = (what: string) => (done: number, all: number) => onProgress?.(what, done, all);
  const times = await measureKernels({
    ...{ programs: calibrationPrograms(), kernels, cores: Math.min(cores, ranks), steps },
    onProgress: saying('programs of kernels'),
  });
  const exchanges = await measureExchanges({
    ...{ ranks: powersUpTo(ranks), bytes: EXCHANGE_SIZES, steps },
    onProgress: saying('exchanges'),
  });
  return {
    machine: `${cpus()[0]?.model.trim() || 'an unnamed processor'}, ${count(cores, 'core')}`,
    asOf: new Date().toISOString().slice(0, 'yyyy-mm'.length),
    engine: kernels,
    cores,
    memoryBytes: totalmem(),
    ranks,
    kernels: times,
    exchanges,
  };
}

const powersUpTo = (most: number): readonly number[] =>
  Array.from({ length: Math.floor(Math.log2(most)) }, (_, index) => 2 ** (index + 1));
