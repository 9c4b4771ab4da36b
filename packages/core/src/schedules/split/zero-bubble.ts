/** @file Zero-bubble schedules on lists: weight parts wait and fill what would be idle. Source: [qi2023] and [qi2024] in
 * docs/sources.md.
 */
import { invocationCode } from '../invocation.ts';

/** Stages and micro-batches of a step. */
export interface SplitShape {
  readonly stages: number;
  readonly microBatches: number;
}

/** `ahead` forwards, then input part and forward in turns; the weight part comes `late` micro-batches after its input
 * part. The last of them fill the end. */
function delayedList(microBatches: number, ahead: number, late: number): number[] {
  const codes: number[] = [];
  const first = Math.min(ahead, microBatches);
  for (let turn = 0; turn < first; turn++) codes.push(invocationCode('F', 0, turn));
  for (let turn = 0; turn < microBatches; turn++) {
    codes.push(invocationCode('I', 0, turn));
    if (turn >= late) codes.push(invocationCode('W', 0, turn - late));
    if (turn + first < microBatches) codes.push(invocationCode('F', 0, turn + first));
  }
  for (let turn = Math.max(0, microBatches - late); turn < microBatches; turn++)
    codes.push(invocationCode('W', 0, turn));
  return codes;
}

/** ZB-H1: every stage holds as many micro-batches as 1F1B's first. */
export const zeroBubbleH1 = ({ stages, microBatches }: SplitShape, stage: number): number[] =>
  delayedList(microBatches, stages - stage, stage);

/** ZB-H2: about twice as many, so that no stage waits at all when forward, input and weight part are equal. */
export const zeroBubbleH2 = ({ stages, microBatches }: SplitShape, stage: number): number[] =>
  delayedList(microBatches, 2 * (stages - stage) - 1, 2 * stage);

/** ZB-V: each stage has a chunk on the way down and one on the way back up, so the last forward and the first backward
 * are on the first stage. Below 2 p - 1 micro-batches those that are not there are left out. */
export function zeroBubbleV({ stages, microBatches }: SplitShape, stage: number): number[] {
  const turns = Math.max(microBatches, 2 * stages - 1);
  const codes: number[] = [];
  const next = { F: [0, 0], I: [0, 0], W: [0, 0] };
  const put = (kind: 'F' | 'I' | 'W', chunk: 0 | 1): void => {
    const turn = next[kind][chunk] as number;
    next[kind][chunk] = turn + 1;
    if (turn < microBatches) codes.push(invocationCode(kind, chunk, turn));
  };
  const both = (chunk: 0 | 1): void => {
    put('I', chunk);
    put('W', chunk);
  };
  for (let turn = 0; turn < 2 * (stages - stage) - 1; turn++) put('F', 0);
  for (let turn = 0; turn < stage; turn++) {
    put('F', 1);
    put('F', 0);
  }
  for (let turn = 0; turn < stages - stage; turn++) {
    put('F', 1);
    both(1);
  }
  while ((next.F[1] as number) < turns) {
    if ((next.F[0] as number) < turns) put('F', 0);
    both(0);
    put('F', 1);
    both(1);
  }
  for (let turn = 0; turn < stage; turn++) {
    put('I', 0);
    put('I', 1);
  }
  for (let turn = 0; turn < stages - stage; turn++) both(0);
  for (const chunk of [1, 0] as const) while ((next.W[chunk] as number) < turns) put('W', chunk);
  return codes;
}
