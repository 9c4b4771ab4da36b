/** @file Why one order of the axes beats another: which bytes of each axis cross which link under either, how long its
 * exchanges take, and how long compute waits for them. The waits differ by what the steps differ by.
 */
import { formatBytes, formatSeconds, seconds as inSeconds, bytes as toBytes } from '../units/index.ts';
import { detailOf, type LayoutDetail } from './detail.ts';
import type { Evaluator } from './evaluate/index.ts';
import { peakRate } from './peak-rate.ts';
import type { Candidate } from './search.ts';
import { trafficOf } from './traffic.ts';
import type { TierBytes } from './traffic-tiers.ts';

/** What compute waits for: an axis, a transfer between stages (`pipelineSend`), another stage (`bubble`), or the host. */
export type WaitPart = Extract<
  keyof LayoutDetail['parts'],
  'tensor' | 'context' | 'expert' | 'data' | 'pipelineSend' | 'bubble' | 'host' | 'offload'
>;

const waits: readonly WaitPart[] = ['tensor', 'context', 'expert', 'data', 'pipelineSend', 'bubble', 'host', 'offload'];

/** The exchanges of one axis under one order of the axes, in a step of the rank that ends last. */
export interface PlacedTraffic {
  /** Sent by one rank, by link, the most first. */
  readonly tiers: readonly TierBytes[];
  /** Seconds that the exchanges run. */
  readonly seconds: number;
  /** Seconds that compute waits. */
  readonly waitedSeconds: number;
}

/** One axis under the usual and under the best order. */
export interface AxisPlacement {
  readonly axis: WaitPart;
  readonly usual: PlacedTraffic;
  readonly best: PlacedTraffic;
}

/** Every axis whose exchanges or waits differ between two orders of one layout; the largest difference of waits first. Over
 * all axes the waits differ by as much as the steps do, because what is computed does not depend on the order. */
export function placementsOf(evaluator: Evaluator, usual: Candidate, best: Candidate): readonly AxisPlacement[] {
  const under = [usual, best].map((candidate) => placedUnder(evaluator, candidate));
  const [ofUsual, ofBest] = under as [ReturnType<typeof placedUnder>, ReturnType<typeof placedUnder>];
  return waits
    .map((axis): AxisPlacement => ({ axis, usual: ofUsual(axis), best: ofBest(axis) }))
    .filter((each) => difference(each) !== 0 || each.usual.seconds !== each.best.seconds)
    .sort((a, b) => Math.abs(difference(b)) - Math.abs(difference(a)));
}

const difference = ({ usual, best }: AxisPlacement): number => usual.waitedSeconds - best.waitedSeconds;

function placedUnder(evaluator: Evaluator, candidate: Candidate): (part: WaitPart) => PlacedTraffic {
  const { job } = evaluator;
  const detail = detailOf(evaluator, candidate, (dtype) => peakRate(job, dtype));
  const prices = evaluator.pricesOf(candidate.layout);
  const traffic = detail.exchanges.map((row) => trafficOf(job, candidate.layout, row, prices));
  return (part) => {
    const own = traffic.filter(({ axis }) => axis === (part === 'pipelineSend' ? 'pipeline' : part));
    return {
      tiers: sumByLink(own.flatMap(({ tiers }) => tiers)),
      seconds: own.reduce((sum, row) => sum + row.seconds, 0),
      waitedSeconds: detail.parts[part],
    };
  };
}

function sumByLink(tiers: readonly TierBytes[]): readonly TierBytes[] {
  const sums = new Map<string, number>();
  for (const { link, bytesPerRank } of tiers) sums.set(link, (sums.get(link) ?? 0) + bytesPerRank);
  return [...sums]
    .filter(([, bytesPerRank]) => bytesPerRank > 0)
    .map(([link, bytesPerRank]) => ({ link, bytesPerRank }))
    .sort((a, b) => b.bytesPerRank - a.bytesPerRank);
}

/** `data sends 1.2 GiB over NVLink 5 in 3 ms in place of ...: compute waits 10 ms in place of 25 ms`. */
export function placementWords({ axis, usual, best }: AxisPlacement): string {
  const waited = `compute waits ${time(best.waitedSeconds)} in place of ${time(usual.waitedSeconds)}`;
  if (best.tiers.length + usual.tiers.length === 0) return `${waitNames[axis]}: ${waited}`;
  return `${waitNames[axis]} sends ${sent(best)} in place of ${sent(usual)}: ${waited}`;
}

const waitNames: Readonly<Record<WaitPart, string>> = {
  tensor: 'tensor',
  context: 'context',
  expert: 'expert',
  data: 'data',
  pipelineSend: 'pipeline',
  bubble: 'other stages',
  host: 'the host',
  offload: 'offload',
};

const sent = ({ tiers, seconds }: PlacedTraffic): string =>
  `${tiers.map(({ link, bytesPerRank }) => `${formatBytes(toBytes(bytesPerRank))} over ${link}`).join(' and ')} in ${time(seconds)}`;

const time = (value: number): string => formatSeconds(inSeconds(value));
