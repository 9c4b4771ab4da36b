/** @file Seconds of kernels on this machine, one sample for each kernel and shape of some programs. As many ranks run at once as
 * the machine has cores, programs of one rank each by itself: what one core does alone no run of several ranks sees.
 */

import { assertInvariant } from '@meshwright/core/errors';
import { worldSize } from '@meshwright/core/mesh';
import {
  degreesOf,
  type ExpandedList,
  expandList,
  type KernelName,
  type Program,
  type Work,
  workOf,
} from '@meshwright/core/program';
import { sliceOf, type Timeline } from '@meshwright/core/timeline';
import type { KernelEngine } from '../kernels/engine.ts';
import { createRankPool } from '../train/rank-pool.ts';
import { trainProgram } from '../train/train-program.ts';

/** Of one kernel on one shape. */
export interface KernelTime {
  readonly kernel: KernelName;
  readonly kind: Work['kind'];
  readonly flops: number;
  /** Read and written. */
  readonly bytes: number;
  readonly bytesWritten: number;
  readonly seconds: number;
  /** Between the end of the kernel before and its own begin; undefined among several ranks, which wait for each other. */
  readonly between: number | undefined;
}

export interface KernelMeasurement {
  /** Of one list each; those of more ranks than `cores` are passed by. */
  readonly programs: readonly Program[];
  readonly kernels: KernelEngine;
  readonly cores: number;
  /** Steps of each program; each operation counts with its fastest. */
  readonly steps: number;
  readonly onProgress?: (done: number, all: number) => void;
}

/** Runs all programs and says what each kernel took on each shape: the median over its operations, each at its fastest, for
 * whatever else the machine does only adds. */
export async function measureKernels(measurement: KernelMeasurement): Promise<readonly KernelTime[]> {
  const { programs, kernels, cores, steps, onProgress } = measurement;
  const pools = Array.from({ length: cores }, () => createRankPool());
  const fitting = programs.filter(({ mesh }) => worldSize(mesh) <= cores);
  const times: KernelTime[] = [];
  try {
    for (const [done, program] of fitting.entries()) {
      onProgress?.(done, fitting.length);
      const runs = await Promise.all(
        pools.slice(0, Math.floor(cores / worldSize(program.mesh))).map((pool) => {
          const fastest = createFastest(program);
          const onStep = (_: unknown, timeline: () => Timeline): void => fastest.add(timeline());
          return trainProgram(program, { steps, kernels, pool, onStep }).then(() => fastest);
        }),
      );
      times.push(...runs.flatMap((fastest) => fastest.times()));
    }
    onProgress?.(fitting.length, fitting.length);
  } finally {
    await Promise.all(pools.map((pool) => pool.close()));
  }
  return byShape(times);
}

/** Of the operations of all ranks, each at its fastest. */
function createFastest(program: Program) {
  const [first, ...others] = program.lists;
  assertInvariant(first !== undefined && others.length === 0, () => `${program.name} has not one list`);
  const list = expandList(program, first);
  const alone = worldSize(program.mesh) === 1;
  const ranks = Array.from({ length: worldSize(program.mesh) }, () => ({
    seconds: new Map<number, number>(),
    between: new Map<number, number>(),
  }));
  return {
    add: (timeline: Timeline): void => {
      let before: number | undefined;
      for (let index = 0; index < timeline.length; index++) {
        const { rank, operation, start, end } = sliceOf(timeline, index);
        const fastest = ranks[rank];
        if (!fastest) continue;
        keep(fastest.seconds, operation, end - start);
        if (alone && before !== undefined) keep(fastest.between, operation, start - before);
        before = end;
      }
    },
    times: (): readonly KernelTime[] =>
      ranks.flatMap(({ seconds, between }) => timesOf(program, list, seconds, alone ? between : undefined)),
  };
}

const keep = (least: Map<number, number>, at: number, nanoseconds: number): void =>
  void least.set(at, Math.min(least.get(at) ?? Infinity, Math.max(0, nanoseconds)));

const NANOSECONDS = 1e9;
/** A clock that says 0 for a kernel is too coarse for it. */
const LEAST_SECONDS = 1e-7;

function timesOf(
  program: Program,
  { operations }: ExpandedList,
  seconds: ReadonlyMap<number, number>,
  between: ReadonlyMap<number, number> | undefined,
): readonly KernelTime[] {
  const degrees = degreesOf(program);
  return operations.flatMap((expanded): readonly KernelTime[] => {
    const { operation, index } = expanded;
    const taken = seconds.get(index);
    if (operation.kind !== 'compute' || taken === undefined) return [];
    const { kind, flops, bytesRead, bytesWritten } = workOf(expanded, degrees);
    return [
      {
        ...{ kernel: operation.kernel, kind, flops, bytesWritten },
        bytes: bytesRead + bytesWritten,
        seconds: Math.max(LEAST_SECONDS, taken / NANOSECONDS),
        between: between && Math.max(LEAST_SECONDS, (between.get(index) ?? 0) / NANOSECONDS),
      },
    ];
  });
}

function byShape(times: readonly KernelTime[]): readonly KernelTime[] {
  const groups = new Map<string, KernelTime[]>();
  for (const each of times) {
    const key = `${each.kernel} ${each.flops} ${each.bytes} ${each.bytesWritten}`;
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    const between = group.flatMap((each) => each.between ?? []);
    return first
      ? [
          {
            ...first,
            seconds: median(group.map(({ seconds }) => seconds)),
            between: between.length > 0 ? median(between) : undefined,
          },
        ]
      : [];
  });
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}
