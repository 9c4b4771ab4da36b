/** @file Faults on purpose: a run that breaks at a given operation, so that what happens then can be practised and tested. */

/** What breaks, where and when. */
export interface Drill {
  readonly rank: number;
  readonly step: number;
  /** The operation that is about to begin, by index in the rank's list, or the rank's files of a checkpoint that are written. */
  readonly at: number | 'saved';
  /** `throw`: the operation fails. `exit`: the rank's thread ends without a word. `kill`: the operating system ends the
   * whole process with signal 9. */
  readonly act: 'throw' | 'exit' | 'kill';
}

/** Breaks what the drill says where it says so. */
export function strike(drill: Drill | undefined, rank: number, step: number, at: Drill['at']): void {
  if (drill === undefined || drill.rank !== rank || drill.step !== step || drill.at !== at) return;
  switch (drill.act) {
    case 'throw':
      throw new Error(`a drill broke rank ${rank} in step ${step}`);
    case 'exit':
      return process.exit(1);
    case 'kill':
      process.kill(process.pid, 'SIGKILL');
  }
}
