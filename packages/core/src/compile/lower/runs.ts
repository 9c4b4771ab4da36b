/** @file Units of sharding 3: the order in which a stage uses them, and the runs that gathers follow.
 *
 * A run is a row of equal neighbours in the list of uses. The gather of run j needs the end of run j - 1 - prefetch, so
 * at most 1 + prefetch units are whole at a time. Where units are kept (`reshard` off), all uses of a unit are one run,
 * and its gather needs the end of the first use of run j - 1 - prefetch.
 */
import type { Unit } from '../../program/index.ts';
import type { Invocation } from '../../schedules/index.ts';
import type { StageOutline } from '../outline.ts';
import type { BucketPlan } from '../parameters.ts';

/** The unit of each block of a stage: its own buckets, and the tied matrix at both ends; those that are gathered. */
export function unitsOf(
  stage: StageOutline,
  layers: number,
  isGathered: (bucket: BucketPlan) => boolean = () => true,
): ReadonlyMap<number, Unit> {
  const units = new Map<number, Unit>();
  const buckets = stage.buckets.filter(isGathered);
  const tied = buckets.filter((bucket) => bucket.tied).map((bucket) => bucket.name);
  for (const block of stage.chunks.flatMap((chunk) => chunk.blocks)) {
    const own = buckets.filter((bucket) => bucket.blocks.includes(block)).map((bucket) => bucket.name);
    const name = block < 0 ? 'E' : block >= layers ? 'H' : `L${block}`;
    units.set(block, { name, buckets: block < 0 || block >= layers ? [...tied, ...own] : own });
  }
  return units;
}

/** Weight parts read no weights: they are no use of their units. */
export const usesUnits = ({ kind }: Pick<Invocation, 'kind'>): boolean => kind !== 'W';

/** Blocks of an invocation in the order of execution; an embedding has no gradient of its input, and no
 * backward at all where the ends of the model are frozen. */
export function blocksOfInvocation(
  stage: StageOutline,
  { kind, chunk }: Pick<Invocation, 'kind' | 'chunk'>,
  frozenEnds: boolean = false,
): readonly number[] {
  const { blocks, embed } = stage.chunks[chunk] ?? { blocks: [], embed: false };
  if (kind === 'F') return blocks;
  return ((kind === 'I' || frozenEnds) && embed ? blocks.slice(1) : [...blocks]).reverse();
}

export interface UnitRuns {
  /** Unit of run j, counted from 1; index 0 is unused. */
  readonly unitOf: readonly (Unit | undefined)[];
  /** Run of each use, in the order of execution. */
  readonly runOfUse: readonly number[];
}

export function unitRuns(
  stage: StageOutline,
  invocations: readonly Invocation[],
  units: ReadonlyMap<number, Unit>,
  reshard: boolean,
  frozenEnds: boolean = false,
): UnitRuns {
  const unitOf: (Unit | undefined)[] = [undefined];
  const runOfUse: number[] = [];
  const kept = new Map<string, number>();
  for (const invocation of invocations.filter(usesUnits)) {
    for (const block of blocksOfInvocation(stage, invocation, frozenEnds)) {
      const unit = units.get(block);
      const known = reshard || unit === undefined ? undefined : kept.get(unit.name);
      if (known === undefined && unit?.name !== unitOf[unitOf.length - 1]?.name) unitOf.push(unit);
      const run = known ?? unitOf.length - 1;
      if (unit !== undefined) kept.set(unit.name, run);
      runOfUse.push(run);
    }
  }
  return { unitOf, runOfUse };
}

export const blockKind = (block: number, layers: number): 'embed' | 'layer' | 'head' =>
  block < 0 ? 'embed' : block >= layers ? 'head' : 'layer';
