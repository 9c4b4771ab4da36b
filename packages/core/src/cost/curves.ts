/** @file Time of collectives inside a link domain: measured curves, interpolated over the number of ranks. */
import type { CollectiveCurve, CurveKind, IntraSpec } from '../cluster/index.ts';

/** Time = alpha + bytes x perByte + sqrt(bytes) x perRootByte; the fastest tier's part of a group. */
export interface DomainTerms {
  readonly allReduce: CurveTerms;
  readonly allGather: CurveTerms;
  readonly reduceScatter: CurveTerms;
  readonly allToAll: CurveTerms;
  readonly broadcast: CurveTerms;
}

export interface CurveTerms {
  readonly alpha: number;
  readonly perByte: number;
  readonly perRootByte: number;
}

const nothing: CurveTerms = { alpha: 0, perByte: 0, perRootByte: 0 };

export const atCurve = (terms: CurveTerms, bytes: number): number =>
  terms.alpha + bytes * terms.perByte + Math.sqrt(bytes) * terms.perRootByte;

/** The terms of every collective over `ranks` devices of one domain. */
export function domainTerms(intra: IntraSpec, ranks: number): DomainTerms {
  const allGather = termsOf(intra, 'all-gather', ranks);
  // A broadcast sends the whole buffer over each link, an all-gather (n-1)/n of it.
  const whole = ranks > 1 ? ranks / (ranks - 1) : 1;
  return {
    allReduce: termsOf(intra, 'all-reduce', ranks),
    allGather,
    reduceScatter: termsOf(intra, 'reduce-scatter', ranks),
    allToAll: termsOf(intra, 'all-to-all', ranks),
    broadcast: { ...allGather, perByte: allGather.perByte * whole },
  };
}

/** One message to a neighbour: what each rank sends in an all-gather of two, whose buffer is twice the message. */
export function sendTerms(intra: IntraSpec): CurveTerms {
  const { alpha, perByte, perRootByte } = termsOf(intra, 'all-gather', 2);
  return { alpha, perByte: 2 * perByte, perRootByte: Math.SQRT2 * perRootByte };
}

function termsOf(intra: IntraSpec, kind: CurveKind, ranks: number): CurveTerms {
  if (ranks <= 1) return nothing;
  const curves = intra.curves.filter((curve) => curve.kind === kind).sort((a, b) => a.ranks - b.ranks);
  const first = curves[0];
  if (first === undefined) return ringTerms(intra, kind, ranks);
  const scale = (intra.curveFit.value * intra.curveBandwidth) / intra.bandwidth.value;
  const last = curves.at(-1) ?? first;
  const above = curves.find((curve) => curve.ranks >= ranks);
  const below = curves.findLast((curve) => curve.ranks <= ranks);
  if (above === undefined || below === undefined)
    return beyond(above === undefined ? curves : [first], last, ranks, scale);
  const span = Math.log2(above.ranks / below.ranks);
  const at = span === 0 ? 0 : Math.log2(ranks / below.ranks) / span;
  const mix = (a: number, b: number): number => a + at * (b - a);
  return {
    alpha: mix(below.alpha, above.alpha),
    perByte: scale * mix(perSent(below), perSent(above)) * ((ranks - 1) / ranks),
    perRootByte: scale * mix(below.perRootByte, above.perRootByte),
  };
}

/** Seconds per byte over the share (n-1)/n that a rank sends: nearly the same for every number of ranks. */
const perSent = (curve: CollectiveCurve): number => (curve.perByte * curve.ranks) / (curve.ranks - 1);

/** More ranks than were measured: the rate per byte sent stays, latency grows as it did with each doubling. */
function beyond(curves: readonly CollectiveCurve[], last: CollectiveCurve, ranks: number, scale: number): CurveTerms {
  const before = curves.at(-2);
  const growth = before === undefined ? 0 : (last.alpha - before.alpha) / Math.log2(last.ranks / before.ranks);
  return {
    alpha: Math.max(last.alpha, last.alpha + growth * Math.log2(ranks / last.ranks)),
    perByte: scale * perSent(last) * ((ranks - 1) / ranks),
    perRootByte: scale * last.perRootByte,
  };
}

/** No curve: rings at the link's rate; devices that are joined directly use the links between them and no others. */
function ringTerms(intra: IntraSpec, kind: CurveKind, ranks: number): CurveTerms {
  const passes = kind === 'all-reduce' ? 2 : 1;
  const links = intra.peer === undefined ? Number.POSITIVE_INFINITY : (ranks - 1) * intra.peer.value;
  const rate = Math.min(intra.bandwidth.value, links) * intra.efficiency.value;
  return {
    alpha: passes * (ranks - 1) * intra.latency.value,
    perByte: (passes * (ranks - 1)) / ranks / rate,
    perRootByte: 0,
  };
}
