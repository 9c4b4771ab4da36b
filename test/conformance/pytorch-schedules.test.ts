import { readFileSync } from 'node:fs';
import {
  decodeInvocation,
  type ScheduleName,
  type SplitListName,
  scheduleList,
  splitSchedules,
} from '@meshwright/core/schedules';
import { describe, expect, it } from 'vitest';

/** Printed by test/fixtures/pytorch/print-actions.py from the wheel of the first release with all five schedules. */
const printed = JSON.parse(
  readFileSync(new URL('../fixtures/pytorch/actions.json', import.meta.url), 'utf8'),
) as Readonly<{ version: string; lists: Readonly<Record<string, readonly string[]>> }>;

/** A list in PyTorch's words: stage, what, micro-batch; what runs together is joined by `+`. */
function unsplit(schedule: ScheduleName, stages: number, microBatches: number, stage: number): string {
  const chunks = schedule === 'interleaved-1f1b' ? 2 : 1;
  return scheduleList({ schedule, stages, chunks, microBatches }, stage)
    .map(({ kind, chunk, microBatch }) => `${chunk * stages + stage}${kind}${microBatch}`)
    .join(' ');
}

function split(schedule: SplitListName, stages: number, microBatches: number, stage: number): string {
  let text = '';
  for (const code of splitSchedules[schedule].list({ stages, microBatches }, stage)) {
    const { kind, chunk, microBatch, together } = decodeInvocation(code);
    text += `${chunk === 0 ? stage : 2 * stages - 1 - stage}${kind}${microBatch}${together ? '+' : ' '}`;
  }
  return text.trim();
}

/** The printed 1F1B list of the last rank begins with forward 1 and ends with a micro-batch that is not there, which its own
 * `_step_microbatches` does not run: forwards are numbered one too high. */
function corrected(list: string, microBatches: number): string {
  if (!list.includes(`F${microBatches} `)) return list;
  return list.replace(/F(\d+)/g, (_, number: string) => `F${Number(number) - 1}`);
}

describe(`the orders of torch.distributed.pipelining ${printed.version}`, () => {
  for (const [name, lists] of Object.entries(printed.lists)) {
    it(`are ours: ${name}`, () => {
      const [schedule = '', stages = 0, microBatches = 0] = name
        .split(' ')
        .map((part) => (part.includes('=') ? Number(part.split('=')[1]) : part)) as [string, number, number];
      const ours = lists.map((_, stage) =>
        schedule in splitSchedules
          ? split(schedule as SplitListName, stages, microBatches, stage)
          : unsplit(schedule as ScheduleName, stages, microBatches, stage),
      );
      expect(ours).toEqual(schedule === '1f1b' ? lists.map((list) => corrected(list, microBatches)) : lists);
    });
  }
});
