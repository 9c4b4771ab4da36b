/** @file Prices of the operations of a program: work and bytes from the program, seconds from the cost room. */
import type { ExchangeRequest, Prices } from '../cost/index.ts';
import type { AxisName } from '../mesh/index.ts';
import {
  type Collective,
  degreesOf,
  type ExpandedOperation,
  type Program,
  paddedBytes,
  routedDim,
  touchedBytes,
  type Work,
  workOf,
} from '../program/index.ts';
import { type Degrees, localSize } from '../tensor/index.ts';
import { remembered } from './remembered.ts';
import type { OperationPrices } from './types.ts';

/** Seconds of each operation of `program` under `prices`, alone on device and links.
 *
 * Work of the host has no price yet and takes none. A wait takes none beside what it waits for. */
export function pricesOf(program: Program, prices: Prices): OperationPrices {
  const work = worksOf(program);
  return {
    duration: remembered(secondsOf(program, prices, work)),
    byShape: true,
    launch: remembered(launchesOf(prices, work)),
    launchCompute: prices.launchCompute,
    launchExchange: prices.launchExchange,
  };
}

/** The seconds of {@link pricesOf}, worked out at every asking. */
export function secondsOf(
  program: Program,
  prices: Prices,
  work: (expanded: ExpandedOperation) => Work,
): (expanded: ExpandedOperation) => number {
  const degrees = degreesOf(program);
  return (expanded) => {
    const { operation } = expanded;
    if (operation.kind === 'compute' && operation.lane !== 'compute') return hostSeconds(prices, expanded, work);
    if (operation.kind === 'compute') {
      return prices.compute(work(expanded), operation.kernel) * busiestOf(prices, expanded, degrees);
    }
    const request = exchangeRequest(program, expanded, degrees);
    return request === undefined ? 0 : prices.exchange(request) * busiestOf(prices, expanded, degrees);
  };
}

/** Seconds of the host to issue an operation. Waits and marks take none; what runs on a lane of the host is issued at once. */
export const launchesOf =
  (prices: Prices, work: (expanded: ExpandedOperation) => Work) =>
  (expanded: ExpandedOperation): number => {
    const { operation } = expanded;
    switch (operation.kind) {
      case 'compute':
        return operation.lane === 'compute' ? prices.launch(work(expanded), operation.kernel) : prices.launchCompute;
      case 'collective':
      case 'send':
      case 'recv':
        return prices.launchExchange;
      default:
        return 0;
    }
  };

/** What runs on a lane of the host: an update of what lies in its memory, or a copy. */
function hostSeconds(prices: Prices, expanded: ExpandedOperation, work: (each: ExpandedOperation) => Work): number {
  const { bytesRead, bytesWritten } = work(expanded);
  const updates = expanded.operation.lane === 'host.update';
  return updates ? prices.hostPass(bytesRead + bytesWritten) : prices.hostCopy(bytesRead);
}

/** The work of compute operations, worked out once for each shape. */
export function worksOf(program: Program): (expanded: ExpandedOperation) => Work {
  const degrees = degreesOf(program);
  return remembered((expanded) => workOf(expanded, degrees));
}

/** What an exchange asks of the links; undefined for what is none. */
export function exchangeRequest(
  program: Program,
  expanded: ExpandedOperation,
  degrees: Degrees,
): ExchangeRequest | undefined {
  const { operation } = expanded;
  switch (operation.kind) {
    case 'send':
    case 'recv': {
      const operand = operation.kind === 'send' ? expanded.reads[0] : expanded.writes[0]?.operand;
      const bytes = operand === undefined ? 0 : touchedBytes(operand, degrees);
      return { kind: 'send', algorithm: 'ring', bytes, axes: ['pipeline'] };
    }
    case 'collective':
      return {
        // Every rank sends to its neighbour at once, which is how sends are priced anyway.
        kind: operation.collective === 'shift' ? 'send' : operation.collective,
        algorithm: operation.algorithm,
        bytes: movedBytes(operation, expanded, degrees),
        ...tokensOf(operation, expanded),
        ...ranksOf(program, operation),
      };
    default:
      return undefined;
  }
}

/** An all-to-all of rows takes as long as the rank that sends or gets most of them. */
function movedBytes(operation: Collective, expanded: ExpandedOperation, degrees: Degrees): number {
  const bytes = paddedBytes(operation, expanded, degrees);
  const written = expanded.writes[0]?.operand;
  if (operation.collective !== 'all-to-all' || written === undefined) return bytes;
  return Math.max(bytes, touchedBytes(written, degrees));
}

/** Experts that an all-to-all of rows goes to. */
function tokensOf({ collective }: Collective, { reads }: ExpandedOperation): Pick<ExchangeRequest, 'experts'> {
  const routed = collective === 'all-to-all' ? routedDim(reads[0]?.dims ?? [])?.routed : undefined;
  return routed === undefined ? {} : { experts: routed.experts };
}

/** What work on rows that have travelled takes on the busiest expert rank over the mean; 1 for other work, and where the
 * program says itself how uneven the rows are. */
function busiestOf(prices: Prices, { reads, writes }: ExpandedOperation, degrees: Degrees): number {
  for (const operand of [...reads, ...writes.map((write) => write.operand)]) {
    const dims = operand?.dims ?? [];
    const rows = routedDim(dims);
    const ranks = dims.some((dim) => dim.cut?.includes('expert') && dim.routed === undefined) ? degrees('expert') : 1;
    if (rows?.routed === undefined || ranks === 1) continue;
    const { experts } = rows.routed;
    return prices.busiest((localSize(rows, degrees) * experts) / ranks, ranks);
  }
  return 1;
}

/** A named group is the ends of the axis that it lies along, one of the groups that the axis is made of, the whole axis, or
 * one of these together with whole other axes.
 */
function ranksOf(program: Program, { axis }: Collective): Pick<ExchangeRequest, 'axes' | 'members' | 'part'> {
  const group = program.groups.find((each) => each.name === axis);
  if (group === undefined) return { axes: [axis as AxisName] };
  const { along, joint = [], coordinates, repeats } = group;
  const axes = [along, ...joint];
  if (repeats) {
    const [first = 0, second = first + 1] = coordinates;
    return { axes, part: { count: coordinates.length, step: second - first } };
  }
  return { axes, ...(coordinates.length === 2 && joint.length === 0 && { members: 'ends' as const }) };
}
