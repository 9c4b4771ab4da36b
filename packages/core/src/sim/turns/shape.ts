/** @file What follows from the rows of a list alone: queues, seconds, what operands wait for, and plans of its turns. Stages whose
 * rows differ in names only have one shape.
 */
import { type ExpandedList, holdsHost, readCount, type Turns } from '../../program/index.ts';
import { launchOf, takesNoTime } from '../graph.ts';
import { queuesOf } from '../lanes.ts';
import { type OperandUse, operandUse } from '../operand-use.ts';
import { secondsOfAll } from '../place.ts';
import type { OperationPrices } from '../types.ts';
import { type Patterns, patternsOf } from './pattern.ts';
import { type TurnPlan, turnPlan } from './plan.ts';

/** The numbers of rows, by sample. */
interface Numbers {
  readonly queue: Uint8Array;
  readonly reads: Uint8Array;
  readonly launch: Float64Array;
  /** Where prices see no more than samples; else empty. */
  readonly seconds: Float64Array;
  readonly isMark: Uint8Array;
  readonly holds: Uint8Array;
}

/** Rows, whatever the names in them are. */
export interface TurnShape extends Numbers {
  readonly queues: number;
  readonly use: OperandUse;
  /** The plan of a form, when it has come so often that it is worth one; undefined where its turns are placed one by one. */
  planOf(form: number): PlannedTurn | undefined;
}

/** A turn that is placed in one go where its clocks let it. */
export interface PlannedTurn {
  readonly plan: TurnPlan;
  readonly patterns: Patterns;
  /** Room for the clocks at hand. */
  readonly values: Float64Array;
}

/** A turn that comes once is not worth a plan, nor are a few operations. */
const FEWEST_TIMES = 2;
const FEWEST_OPERATIONS = 4;

/** Seconds of the samples of a list, by its index. */
export type SampleSeconds = (index: number) => Float64Array;

/** The shapes of lists under prices; lists that are alike have the same one. `seconds`: of samples, other than the prices say. */
export function createShapes(
  pricing: OperationPrices,
  seconds?: SampleSeconds,
): (expanded: ExpandedList, turns: Turns, index: number) => TurnShape {
  const known: { readonly key: readonly Numeric[]; readonly shape: TurnShape }[] = [];
  const secondsOf = ({ list }: ExpandedList, { rows }: Turns, index: number): Float64Array => {
    if (seconds !== undefined) return seconds(index);
    return pricing.byShape === true ? secondsOfAll(rows.samples, list, index, pricing) : new Float64Array(0);
  };
  return (expanded, turns, index) => {
    const { samples, sampleOf, blockOf, operands, operandFirst } = turns.rows;
    const { slotOf } = turns.rows.owners();
    const queues = queuesOf(turns.rows);
    const numbers: Numbers = {
      queue: queues.of,
      reads: Uint8Array.from(samples, readCount),
      launch: Float64Array.from(samples, (sample) => launchOf(sample, pricing)),
      seconds: secondsOf(expanded, turns, index),
      isMark: Uint8Array.from(samples, ({ operation }) => (takesNoTime(operation) ? 1 : 0)),
      holds: Uint8Array.from(samples, ({ operation }) => (holdsHost(operation) ? 1 : 0)),
    };
    const { cellOf, stepOf, formRow, formLength } = turns;
    const rows = [sampleOf, blockOf, operands, operandFirst, cellOf, stepOf, formRow, formLength];
    const slots = operands.map((memory) => slotOf[memory] as number);
    const key: Numeric[] = [...rows, slots, ...Object.values(numbers)];
    const found = known.find((each) => each.key.every((own, at) => areEqual(own, key[at] as Numeric)));
    if (found !== undefined) return found.shape;
    const use = operandUse(turns.rows, queues.of);
    const shape = { ...numbers, queues: queues.count, use, planOf: plansOf(turns, { ...numbers, use }) };
    known.push({ key, shape });
    return shape;
  };
}

type Numeric = Uint8Array | Uint32Array | Float64Array;

function areEqual(one: Numeric, other: Numeric): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}

function plansOf(
  { rows, formRow, formLength }: Turns,
  numbers: Numbers & Pick<TurnShape, 'use'>,
): (form: number) => PlannedTurn | undefined {
  const times = new Uint8Array(formLength.length);
  const plans: (PlannedTurn | null | undefined)[] = [];
  const planned = (form: number): PlannedTurn | null => {
    const length = formLength[form] as number;
    if (length < FEWEST_OPERATIONS || numbers.seconds.length === 0) return null;
    const plan = turnPlan({ rows, ...numbers }, formRow[form] as number, length);
    if (plan === undefined) return null;
    return { plan, patterns: patternsOf(plan), values: new Float64Array(plan.clockKind.length) };
  };
  return (form) => {
    const known = plans[form];
    if (known !== undefined) return known ?? undefined;
    const before = times[form] as number;
    times[form] = before + 1;
    if (before < FEWEST_TIMES) return undefined;
    const made = planned(form);
    plans[form] = made;
    return made ?? undefined;
  };
}
