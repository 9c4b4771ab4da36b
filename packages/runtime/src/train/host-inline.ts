/** @file All ranks of a run in one thread, each taking its turn until it can only wait: for one rank, for tests, and where
 * there is no shared memory between threads. The program and the fabric are the same as with threads.
 */
import type { Program } from '@meshwright/core/program';
import { createMachine, type Fabric, type Machine, type RunOptions } from '../interpreter/machine.ts';
import { describeWaiting, failureOf, type OwnedShards, runRank } from '../interpreter/rank.ts';
import { StoppedError } from '../transport/port.ts';
import { gatherOutcomes, type HostListener, type HostOutcome } from './outcome.ts';

interface Runner {
  readonly machine: Machine;
  readonly run: Generator<void, OwnedShards, void>;
  shards: OwnedShards | undefined;
}

export function hostInline(program: Program, options: RunOptions, fabric: Fabric, listener: HostListener): HostOutcome {
  const origin = process.hrtime.bigint();
  const clock = (): number => Number(process.hrtime.bigint() - origin);
  const gathering = gatherOutcomes(fabric.plan.ranks, listener);
  const outcomes = gathering.ranks;
  const runners = Array.from({ length: fabric.plan.ranks }, (_, rank): Runner => {
    const machine = createMachine(program, rank, options, fabric, clock);
    const run = runRank(machine, {
      onStep: (step, record) => gathering.step(rank, step, record),
      onSaved: (step, files) => {
        const unsaved = gathering.saved(step, files);
        if (unsaved) throw new Error(unsaved.reason);
      },
    });
    return { machine, run, shards: undefined };
  });
  for (let moved = true; moved; ) {
    moved = false;
    for (const [rank, runner] of runners.entries()) {
      if (runner.shards) continue;
      try {
        if (takeTurn(runner, runners)) moved = true;
      } catch (cause) {
        if (cause instanceof StoppedError) continue;
        return { stopped: failureOf(runner.machine, cause), ranks: outcomes };
      }
      if (runner.shards) outcomes[rank] = { ...outcomes[rank]!, shards: runner.shards };
    }
  }
  const stuck = runners.filter((runner) => runner.shards === undefined).map(({ machine }) => machine);
  const [first] = stuck;
  if (!first) return { stopped: 'done', ranks: outcomes };
  const waiting = stuck.map((machine) => ({ rank: machine.seat.rank, for: describeWaiting(machine) }));
  return { stopped: { ...failureOf(first, new Error('no rank can move')), waiting }, ranks: outcomes };
}

/** Whether anything moved: this rank ended, or some bell was rung. */
function takeTurn(runner: Runner, runners: readonly Runner[]): boolean {
  const bells = (): number => runners.reduce((sum, { machine }) => sum + machine.port.bell(), 0);
  const before = bells();
  const next = runner.run.next();
  if (next.done) runner.shards = next.value;
  return next.done === true || bells() !== before;
}
