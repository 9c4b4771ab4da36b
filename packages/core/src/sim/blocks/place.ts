/** @file Places the operations of a block in one go where it is known beforehand what they wait for. */
import type { Replay } from '../../program/index.ts';
import type { Placed } from '../place.ts';
import { type Pattern, type Patterns, patternsOf } from './pattern.ts';
import { type BlockPlan, blockPlan, clockOf, HOST, LINE, type PlanInput } from './plan.ts';

/** A list on its way, as far as blocks see it. */
export interface BlockWalk {
  readonly replay: Replay;
  readonly base: number;
  readonly free: Float64Array;
  readonly written: Float64Array;
  readonly read: Float64Array;
  readonly openReads: Uint8Array;
  /** The host: the end of its last wait, and what it has issued since. */
  anchor: number;
  offset: number;
}

/** Blocks of a list by the sample that they begin with. */
export interface PlannedBlocks {
  /** How many operations from `index` on, which belong to `line`, are placed now; 0 where they are to be placed one by one. */
  place(walk: BlockWalk, placed: Placed & { readonly next: Uint32Array }, index: number, line: number): number;
}

/** A block that comes once is not worth a plan, nor are a few operations. */
const FEWEST_TIMES = 2;
const FEWEST_OPERATIONS = 4;

interface Known {
  readonly plan: BlockPlan;
  readonly patterns: Patterns;
  /** The clocks at hand. */
  readonly values: Float64Array;
}

/** No block has come yet. */
export function plannedBlocks(input: PlanInput): PlannedBlocks {
  const { sampleOf, blockOf, samples } = input.replay;
  const seen = new Uint8Array(samples.length);
  const known: (Known | undefined)[] = new Array(samples.length).fill(undefined);
  return {
    place: (walk, placed, index, line) => {
      const sample = sampleOf[index] as number;
      const times = seen[sample] as number;
      if (blockOf[sample] !== sample || times > FEWEST_TIMES) return 0;
      if (times < FEWEST_TIMES) {
        seen[sample] = times + 1;
        return 0;
      }
      const block = known[sample] ?? knownBlock(input, index);
      known[sample] = block;
      if (block !== undefined) return placeBlock(block, walk, placed, index, line);
      seen[sample] = FEWEST_TIMES + 1;
      return 0;
    },
  };
}

function knownBlock(input: PlanInput, index: number): Known | undefined {
  const plan = blockPlan(input, index, FEWEST_OPERATIONS);
  return plan && { plan, patterns: patternsOf(plan), values: new Float64Array(plan.clocks.length + LINE + 1) };
}

function placeBlock(
  { plan, patterns, values }: Known,
  walk: BlockWalk,
  placed: Placed & { readonly next: Uint32Array },
  index: number,
  line: number,
): number {
  const { base } = walk;
  const { next } = placed;
  for (const exchange of plan.exchanges) if (next[base + index + exchange] !== base + index + exchange) return 0;
  if (!readClocks(plan, walk, placed, index, line, values)) return 0;
  const pattern = patterns.of(values);
  if (pattern === undefined) return 0;
  fill(plan, pattern, values, walk, placed, base + index);
  leave(plan, walk, placed, index);
  return plan.length;
}

/** The clocks that the block may wait for; false where one is still open. */
function readClocks(
  { clocks }: BlockPlan,
  { replay, base, free, written, read, openReads, anchor, offset }: BlockWalk,
  { end }: Placed,
  index: number,
  line: number,
  values: Float64Array,
): boolean {
  const { operands, operandFirst, needs, needFirst } = replay;
  const first = operandFirst[index] as number;
  values[HOST] = anchor + offset;
  let named = Number.NEGATIVE_INFINITY;
  for (let need = needFirst[line] as number; need < (needFirst[line + 1] as number); need++) {
    const done = end[base + (needs[need] as number)] as number;
    if (done > named) named = done;
  }
  values[LINE] = named;
  let latest = named;
  for (let each = 0; each < clocks.length; each++) {
    const clock = clocks[each] as BlockPlan['clocks'][number];
    let value: number;
    if (clock.kind === 'queue') value = free[clock.queue] as number;
    else {
      const memory = operands[first + clock.operand] as number;
      if (clock.kind === 'read' && (openReads[memory] as number) > 0) return false;
      value = (clock.kind === 'written' ? written : read)[memory] as number;
    }
    values[LINE + 1 + each] = value;
    if (value > latest) latest = value;
  }
  return latest < Number.POSITIVE_INFINITY;
}

/** Starts and ends, and the host as far as the block takes it. */
function fill(
  { length, launch, seconds }: BlockPlan,
  { needs, first }: Pattern,
  values: Float64Array,
  walk: BlockWalk,
  { start, end }: Placed,
  begin: number,
): void {
  const { anchor } = walk;
  let { offset } = walk;
  let need = 0;
  for (let at = 0; at < length; at++) {
    offset += launch[at] as number;
    let from = Number.NEGATIVE_INFINITY;
    for (const stop = first[at + 1] as number; need < stop; need++) {
      const of = needs[need] as number;
      let done: number;
      if (of >= 0) done = end[begin + of] as number;
      else done = clockOf(of) === HOST ? anchor + offset : (values[clockOf(of)] as number);
      if (done > from) from = done;
    }
    start[begin + at] = from;
    end[begin + at] = from + (seconds[at] as number);
  }
  walk.offset = offset;
}

function leave(
  { lastOf, leaves }: BlockPlan,
  { replay, base, free, written, read }: BlockWalk,
  { end }: Placed,
  index: number,
): void {
  const { operands, operandFirst } = replay;
  const first = operandFirst[index] as number;
  const begin = base + index;
  for (const { queue, operation } of lastOf) free[queue] = end[begin + operation] as number;
  for (const { operand, writes, operation } of leaves) {
    const memory = operands[first + operand] as number;
    const until = end[begin + operation] as number;
    if (writes) written[memory] = until;
    else if (until > (read[memory] as number)) read[memory] = until;
  }
}
