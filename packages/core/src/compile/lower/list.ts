/** @file Writes the list of one stage: invocations with their receives and sends, and the data-axis overlay on them. */

import type { Bucket, BufferDeclaration, RankList, Recv, Send, Why } from '../../program/index.ts';
import { type Invocation, neighbourOf as neighbourChunk, shapeOf } from '../../schedules/index.ts';
import type { Outline, StageOutline } from '../outline.ts';
import { type BucketPlan, writeBucket } from '../parameters.ts';
import { templateOf } from '../templates/layers.ts';
import { partsOf } from '../templates/split.ts';
import { containers, gathersBlock, isSharded } from './containers.ts';
import { createReductions, type Reductions } from './reductions.ts';
import { blockKind, blocksOfInvocation, type UnitRuns, unitRuns, unitsOf, usesUnits } from './runs.ts';
import { writeTail } from './tail.ts';
import { createWriter, NOTHING, overReplicas, type Writer, write } from './writer.ts';

export function lowerList(outline: Outline, stage: StageOutline, invocations: readonly Invocation[]): RankList {
  const { job, layout, layers, context } = outline;
  const writer = createWriter();
  const overlay = createOverlay(outline, stage, invocations, writer);
  overlay.open();
  const ends: number[] = [];
  postReceive(outline, stage, invocations[0], writer, undefined);
  invocations.forEach((invocation, index) => {
    postReceive(outline, stage, invocations[index + 1], writer, ends[index - 1]);
    ends.push(writeInvocation(outline, stage, invocation, writer, overlay));
  });
  overlay.close(ends.at(-1) ?? 0);
  writeTail(outline, stage, writer);
  const isGathered = (bucket: BucketPlan): boolean => isSharded(layout, bucket);
  const units = layout.sharding === 3 ? [...unitsOf(stage, layers, isGathered).values()] : [];
  return {
    name: `P${stage.stage}`,
    pipeline: stage.stage,
    buckets: stage.buckets.map((plan): Bucket => writeBucket(plan, job.model, layout, stage.stage)),
    units,
    buffers: stage.buckets.flatMap((plan): readonly BufferDeclaration[] => containers(plan, job, layout, context.type)),
    items: writer.items,
  };
}

const FROM_PREVIOUS: Why = { rule: 'previous-stage' };
const FROM_NEXT: Why = { rule: 'next-stage' };

/** A receive stands before the invocation that precedes its own and needs the end of the one before that. */
function postReceive(
  outline: Outline,
  stage: StageOutline,
  invocation: Invocation | undefined,
  writer: Writer,
  needs: number | undefined,
): void {
  const chunk = invocation && stage.chunks[invocation.chunk];
  if (invocation === undefined || chunk === undefined || invocation.kind === 'W') return;
  const forward = invocation.kind === 'F';
  const peer = neighbourOf(outline, stage, invocation, forward ? -1 : 1);
  if (peer === undefined) return;
  const buffer = forward
    ? `x${chunk.firstLayer}[${invocation.microBatch}]`
    : `dx${chunk.lastLayer + 1}[${invocation.microBatch}]`;
  const recv: Recv = {
    kind: 'recv',
    lane: forward ? 'act.in' : 'grad.in',
    peer,
    reads: NOTHING,
    writes: [write(buffer)],
    why: forward ? FROM_PREVIOUS : FROM_NEXT,
  };
  writer.operation(recv, needs === undefined ? NOTHING : [needs]);
}

function sendOf(outline: Outline, stage: StageOutline, invocation: Invocation): Send | undefined {
  const chunk = stage.chunks[invocation.chunk];
  if (chunk === undefined || invocation.kind === 'W') return undefined;
  const forward = invocation.kind === 'F';
  const peer = neighbourOf(outline, stage, invocation, forward ? 1 : -1);
  if (peer === undefined) return undefined;
  const buffer = forward
    ? `x${chunk.lastLayer + 1}[${invocation.microBatch}]`
    : `dx${chunk.firstLayer}[${invocation.microBatch}]`;
  return {
    kind: 'send',
    lane: forward ? 'act.out' : 'grad.out',
    peer,
    reads: [buffer],
    writes: NOTHING,
    why: forward ? FROM_NEXT : FROM_PREVIOUS,
  };
}

/** The stage that holds the chunk before or after this one; undefined at the ends of the model and on the same stage. */
function neighbourOf(
  { layout }: Outline,
  { stage }: StageOutline,
  { chunk }: Invocation,
  step: 1 | -1,
): number | undefined {
  const to = neighbourChunk(shapeOf(layout, 1), stage, chunk, step);
  return to === undefined || to.stage === stage ? undefined : to.stage;
}

/** What the data axis adds to the invocations of a stage. */
interface Overlay extends Reductions {
  /** Lines before the first invocation. */
  open(): void;
  /** Which gathered copies the next use reads; undefined where weights are whole anyway. */
  using(): Readonly<Record<string, number>> | undefined;
  /** After the calls of one block: frees and gathers units. */
  used(line: number): void;
}

function createOverlay(
  outline: Outline,
  stage: StageOutline,
  invocations: readonly Invocation[],
  writer: Writer,
): Overlay {
  const { layout, layers } = outline;
  const isGathered = (bucket: BucketPlan): boolean => isSharded(layout, bucket);
  const planOf = new Map(stage.buckets.map((bucket) => [bucket.name, bucket]));
  const units = layout.sharding === 3 ? unitsOf(stage, layers, isGathered) : undefined;
  const runs: UnitRuns | undefined =
    units && unitRuns(stage, invocations, units, layout.reshard, hasFrozenEnds(outline));
  const reductions = createReductions(outline, stage, invocations, writer);
  let [use, latest] = [0, 0];
  const awaited: number[] = [];

  const gatherRun = (run: number, needs: readonly number[]): void => {
    for (const name of runs?.unitOf[run]?.buckets ?? []) {
      const bucket = planOf.get(name);
      const into = write(`W.${name}@${run}`);
      if (bucket) writer.operation(overReplicas(layout, 'all-gather', `P.${name}`, into, bucket), needs);
    }
  };
  const gatherUpdated = (): void => {
    const updated = stage.buckets.filter(isGathered);
    for (const bucket of [...updated].sort((a, b) => a.firstBlock - b.firstBlock)) {
      const name = `W.${bucket.name}`;
      const line = writer.operation(overReplicas(layout, 'all-gather', name, write(name), bucket));
      if (gathersBlock(layout)) awaited.splice(0, 1, line);
    }
  };
  return {
    ...reductions,
    open: () => {
      if (runs) {
        for (let run = 1; run <= 1 + layout.prefetch; run++) gatherRun(run, []);
      } else if (layout.sharding > 0) gatherUpdated();
    },
    using: () => {
      const run = runs?.runOfUse[use];
      if (runs === undefined || run === undefined) return undefined;
      return Object.fromEntries((runs.unitOf[run]?.buckets ?? []).map((bucket) => [bucket, run]));
    },
    used: (line) => {
      const run = runs?.runOfUse[use];
      use += 1;
      if (run === undefined) return;
      const ends = layout.reshard ? runs?.runOfUse[use] !== run : run > latest;
      latest = Math.max(latest, run);
      if (ends) gatherRun(run + 1 + layout.prefetch, [line]);
    },
    blocking: () => [...awaited.splice(0), ...reductions.blocking()],
  };
}

/** Writes the calls of one invocation and its send; gives the line of its last call. */
function writeInvocation(
  outline: Outline,
  stage: StageOutline,
  invocation: Invocation,
  writer: Writer,
  overlay: Overlay,
): number {
  const { layout } = outline;
  const blocks = blocksWithPart(outline, stage, invocation);
  const uses = usesUnits(invocation);
  const pending: BucketPlan[] = [];
  let end = 0;
  let index = 0;
  while (index < blocks.length) {
    const first = blocks[index] ?? 0;
    const again = runsAgain(outline, invocation, first);
    const length = layout.sharding === 3 || again ? 1 : rangeLength(blocks, index, outline, overlay, invocation);
    const last = blocks[index + length - 1] ?? first;
    for (const bucket of pending.splice(0)) overlay.reduce(bucket, invocation);
    // A weight part may wait: what it gathers for the embedding comes after what stands before it.
    const blocking = overlay.blocking();
    const needs =
      invocation.kind === 'W' && first < 0 ? [...blocking, end] : blocking.length > 0 ? [...blocking] : NOTHING;
    end = writeCalls(outline, invocation, { first, last, needs }, again, writer, uses ? overlay.using() : undefined);
    if (uses) overlay.used(end);
    pending.push(...overlay.ready(last, invocation));
    index += length;
  }
  const send = sendOf(outline, stage, invocation);
  if (send) writer.operation(send);
  for (const bucket of pending) overlay.reduce(bucket, invocation);
  return end;
}

/** The blocks of an invocation that have such a part: a loss in pieces has no weight part. */
function blocksWithPart(outline: Outline, stage: StageOutline, invocation: Invocation): readonly number[] {
  const { context, layers } = outline;
  const { kind } = invocation;
  const blocks = blocksOfInvocation(stage, invocation, hasFrozenEnds(outline));
  if (kind !== 'W') return blocks;
  return blocks.filter((block) => partsOf(blockKind(block, layers), context).includes(kind));
}

/** Adapters stand beside layers only. */
const hasFrozenEnds = ({ job }: Outline): boolean => job.model.adapters !== undefined;

/** The layer is recomputed in whole before its backward, or the input part of it. */
function runsAgain({ context: { kinds } }: Outline, { kind }: Invocation, block: number): boolean {
  return (kind === 'B' || kind === 'I') && kinds.kinds[kinds.kindOf[block] ?? -1]?.recompute === 'full';
}

/** How many blocks from `index` one call can take: layers of one kind in a row, up to one whose gradients complete a bucket. */
function rangeLength(
  blocks: readonly number[],
  index: number,
  outline: Outline,
  overlay: Overlay,
  invocation: Invocation,
): number {
  const { layers, context } = outline;
  const { kindOf } = context.kinds;
  let length = 0;
  for (const block of blocks.slice(index)) {
    if (length > 0 && kindOf[block] !== kindOf[blocks[index] ?? 0]) break;
    length += 1;
    if (blockKind(block, layers) !== 'layer' || overlay.ready(block, invocation).length > 0) break;
  }
  return length;
}

function writeCalls(
  outline: Outline,
  invocation: Invocation,
  { first, last, needs }: { readonly first: number; readonly last: number; readonly needs: readonly number[] },
  again: boolean,
  writer: Writer,
  using: Readonly<Record<string, number>> | undefined,
): number {
  const { kinds, kindOf } = outline.context.kinds;
  const call = { first, last, microBatch: invocation.microBatch, ...(using && { using }) };
  const kind = kinds[kindOf[first] ?? -1];
  if (kind === undefined)
    return writer.call({ template: `${invocation.kind}.${blockKind(first, outline.layers)}`, ...call }, needs);
  if (again) writer.call({ template: templateOf('F.layer', kind), ...call, again: true }, needs);
  return writer.call({ template: templateOf(`${invocation.kind}.layer`, kind), ...call }, needs);
}
