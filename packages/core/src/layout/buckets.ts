/** @file When the size of buckets has an effect: buckets hold whole blocks, so sizes that cut them alike are one layout. */
import { blockParameters, elementsOf, type ParameterSpec } from '../model/index.ts';
import { bytesOf } from '../tensor/index.ts';
import { type LayoutJob, profileOf } from './job.ts';
import type { Layout } from './types.ts';

/** The bucket size that stands for all that cut the blocks of this job as `bucketMB` does: the usual one where every layer
 * fills a bucket of either size by itself, and the head closes one under both or under neither.
 */
export function bucketWithEffect(
  job: LayoutJob,
  tensor: number,
  gradientType: Layout['gradientType'],
  bucketMB: number,
): number {
  const usual = profileOf(job).bucketMB.value;
  const small = Math.min(usual, bucketMB) * 1e6;
  const large = Math.max(usual, bucketMB) * 1e6;
  const bytes = (specs: readonly ParameterSpec[]): number =>
    specs.reduce((sum, spec) => sum + elementsOnRank(spec, tensor), 0) * bytesOf(gradientType);
  // Models whose layers differ are not compiled: the first layer stands for all.
  if (bytes(blockParameters(job.model, 0)) < large) return bucketMB;
  const head = bytes(blockParameters(job.model, 'head'));
  return head >= small && head < large ? bucketMB : usual;
}

const elementsOnRank = (spec: ParameterSpec, tensor: number): number =>
  spec.dims.some((dim) => dim.tensor !== undefined) ? elementsOf(spec) / tensor : elementsOf(spec);
