/** @file When the size of buckets has an effect: buckets hold whole blocks, so sizes that cut them alike are one layout. */
import { blockParameters, elementsOf, isRoutedExpert, type ParameterSpec } from '../model/index.ts';
import { bytesOf } from '../tensor/index.ts';
import { hasExpertGrid } from './experts.ts';
import { type LayoutJob, profileOf } from './job.ts';
import type { Layout } from './types.ts';

/** The bucket size that stands for all that cut the blocks of this job as `bucketMB` does: the usual one where every layer
 * fills a bucket of either size by itself, and the head closes one under both or under neither.
 */
export function bucketWithEffect(
  job: LayoutJob,
  layout: Pick<Layout, 'tensor' | 'expert' | 'expertTensor'>,
  gradientType: Layout['gradientType'],
  bucketMB: number,
): number {
  const usual = profileOf(job).bucketMB.value;
  const small = Math.min(usual, bucketMB) * 1e6;
  const large = Math.max(usual, bucketMB) * 1e6;
  const bytes = (specs: readonly ParameterSpec[]): number =>
    specs.reduce((sum, spec) => sum + elementsOnRank(spec, layout), 0) * bytesOf(gradientType);
  // Models whose layers differ are not compiled: the first layer stands for all.
  const layer = blockParameters(job.model, 0);
  const apart = hasExpertGrid(layout);
  const experts = apart ? layer.filter(isRoutedExpert) : [];
  if (bytes(apart ? layer.filter((spec) => !isRoutedExpert(spec)) : layer) < large) return bucketMB;
  if (experts.length > 0 && bytes(experts) < large) return bucketMB;
  const head = bytes(blockParameters(job.model, 'head'));
  return head >= small && head < large ? bucketMB : usual;
}

function elementsOnRank(
  spec: ParameterSpec,
  { tensor, expert, expertTensor }: Parameters<typeof hasExpertGrid>[0],
): number {
  if (spec.dims.every((dim) => dim.tensor === undefined)) return elementsOf(spec);
  return elementsOf(spec) / (isRoutedExpert(spec) ? expert * expertTensor : tensor);
}
