import { overlapKinds } from './overlap.ts';
import type { ContextKind, Layout, Recompute, ScheduleName } from './types.ts';

const scheduleNumbers: Readonly<Record<ScheduleName, number>> = {
  none: 0,
  naive: 1,
  gpipe: 2,
  '1f1b': 3,
  'interleaved-1f1b': 4,
  'zero-bubble-h1': 5,
  'zero-bubble-h2': 6,
  'zero-bubble-v': 7,
  dualpipe: 8,
  'dualpipe-v': 9,
};
const contextNumbers: Readonly<Record<ContextKind, number>> = { ring: 0, 'all-to-all': 1, 'all-gather': 2, hybrid: 3 };
const recomputeNumbers: Readonly<Record<Recompute, number>> = { none: 0, selective: 1, full: 2 };

/** A whole number below 2^53 that equal layouts share and different ones almost surely do not: among a million layouts
 * two collide with a chance of about 1 in 18,000. Cheap, for sets and maps; {@link formatLayout} with `exact` decides. */
export function layoutHash(layout: Layout): number {
  let low = 0x811c9dc5;
  let high = 0x2545f491;
  const mix = (value: number): void => {
    low = Math.imul(low ^ value, 0x01000193);
    low ^= low >>> 15;
    high = Math.imul(high ^ value, 0x5bd1e995);
    high ^= high >>> 13;
  };
  mix(layout.tensor);
  mix(layout.pipeline);
  mix(layout.data);
  mix(layout.replicate * 2 + (layout.offload === 'optimizer' ? 1 : 0));
  mix(layout.context * 4 + contextNumbers[layout.contextKind]);
  mix(layout.expert * 4096 + layout.expertTensor);
  mix(layout.microBatch);
  mix(layout.chunks * 16 + scheduleNumbers[layout.schedule]);
  mix(layout.prefetch);
  mix(layout.lossChunks);
  mix(Math.round(layout.bucketMB * 4096));
  mix(
    layout.sharding |
      (recomputeNumbers[layout.recompute] << 2) |
      (layout.sequenceParallel ? 128 : 0) |
      (layout.keepGathered ? 256 : 0) |
      (layout.gradientType === 'fp32' ? 512 : 0) |
      (layout.gradientReduction === 'per-step' ? 1024 : 0) |
      (layout.reshard ? 2048 : 0) |
      (overlapBits(layout) << 12),
  );
  for (const layers of layout.layersPerStage) mix(layers);
  for (const { from, to, recompute } of layout.layers) mix((from * 8192 + to) * 4 + recomputeNumbers[recompute]);
  for (const axis of layout.order) mix(axis.charCodeAt(0));
  return (high >>> 0) * 2 ** 21 + (low >>> 11);
}

const overlapBits = ({ overlap }: Layout): number =>
  overlapKinds.reduce((bits, kind, at) => bits | (overlap.includes(kind) ? 1 << at : 0), 0);
