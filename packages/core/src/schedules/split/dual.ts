/** @file DualPipe and DualPipeV: two streams of micro-batches cross on every stage, and a forward of one runs together with
 * a backward of the other, so that their exchanges hide behind each other. Source: [deepseek2024] in docs/sources.md.
 */
import { invocationCode } from '../invocation.ts';
import type { SplitShape } from './zero-bubble.ts';

/** The list of the stage that is `depth` steps from the outer end of `half` stages, `turns` micro-batches each way. The
 * outer stream enters at the outer end (`outer` is its chunk), the inner one comes from the middle. Micro-batches of
 * chunk 1 are numbered from `second` on. */
function dualList(half: number, depth: number, turns: number, outer: 0 | 1, second: number): number[] {
  const codes: number[] = [];
  const forwards = [0, second];
  const backwards = [0, second];
  const weights: number[] = [];
  const inner = 1 - outer;
  const forward = (chunk: number, together = false): void => {
    codes.push(invocationCode('F', chunk, forwards[chunk] as number, together));
    forwards[chunk] = (forwards[chunk] as number) + 1;
  };
  const backward = (chunk: number, split: boolean): void => {
    const turn = backwards[chunk] as number;
    backwards[chunk] = turn + 1;
    codes.push(invocationCode(split ? 'I' : 'B', chunk, turn));
    if (split) weights.push(invocationCode('W', chunk, turn));
  };
  const weight = (): void => {
    const code = weights.shift();
    if (code !== undefined) codes.push(code);
  };
  const pair = (forth: number, back: number): void => {
    forward(forth, true);
    backward(back, false);
  };
  const rest = half - depth - 1;
  repeat(2 * rest, () => forward(outer));
  repeat(depth + 1, () => {
    forward(outer);
    forward(inner);
  });
  repeat(rest, () => {
    backward(inner, true);
    weight();
    forward(inner);
  });
  repeat(turns - 2 * half + depth + 1, (turn) => {
    // Where the streams turn, the first backward waits for nothing but the forward before it: it need not wait for two.
    if (turn === 0 && rest === 0) {
      forward(outer);
      backward(inner, false);
    } else pair(outer, inner);
    pair(inner, outer);
  });
  repeat(rest, () => {
    backward(inner, false);
    pair(inner, outer);
  });
  // The second half of these backwards leaves its weight parts for the end.
  const ends = depth + 1;
  repeat(ends, (turn) => {
    backward(inner, 2 * turn >= ends);
    backward(outer, 2 * turn + 1 >= ends);
  });
  repeat(rest, () => {
    weight();
    backward(outer, true);
  });
  while (weights.length > 0) weight();
  return codes;
}

function repeat(count: number, body: (turn: number) => void): void {
  for (let turn = 0; turn < count; turn++) body(turn);
}

/** DualPipe: two copies of the model; half of the micro-batches enter at either end. An even number of stages. */
export function dualPipe({ stages, microBatches }: SplitShape, stage: number): number[] {
  const half = stages / 2;
  const upper = stage < half;
  return dualList(half, upper ? stage : stages - 1 - stage, microBatches / 2, upper ? 0 : 1, microBatches / 2);
}

/** DualPipeV: one copy, folded like a V; a micro-batch goes down the first chunks and up the second ones. */
export const dualPipeV = ({ stages, microBatches }: SplitShape, stage: number): number[] =>
  dualList(stages, stage, microBatches, 0, 0);
