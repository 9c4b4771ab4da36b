/** @file The published run that is nearest to a plan: what others reached with a like model on like devices. */
import { gpuCount } from '../cluster/index.ts';
import type { Job } from '../job/index.ts';
import { type PublishedRow, publishedRows } from './generated/published.ts';

/** A run as its publication tells it. Degrees that it does not print are 0. */
export interface PublishedRun {
  readonly source: string;
  readonly year: number;
  readonly model: string;
  readonly gpu: string;
  readonly gpus: number;
  readonly length: number;
  readonly tensor: number;
  readonly pipeline: number;
  readonly data: number;
  /** Bits of matrix products. */
  readonly bits: number;
  readonly tokensPerSecondPerGpu: number;
  /** Doublings that lie between it and the job, over size of the model, number of devices and length together. */
  readonly distance: number;
}

/** Doublings beyond which a run says nothing about a job. */
const FARTHEST = 3;
/** What another device, or products of other bits, count for: as many doublings. */
const OTHER_DEVICE = 1.5;
const OTHER_BITS = 1;

/** The nearest published run; undefined where none is like the job. Experts are compared with experts only. */
export function nearestRun(job: Job): PublishedRun | undefined {
  let best: { readonly row: PublishedRow; readonly distance: number } | undefined;
  for (const row of publishedRows) {
    const distance = distanceOf(job, row);
    if (distance < (best?.distance ?? FARTHEST)) best = { row, distance };
  }
  if (best === undefined) return undefined;
  const [source, year, model, gpu, gpus, , , , length, tensor, pipeline, data, bits, tokensPerSecondPerGpu] = best.row;
  const degrees = { tensor, pipeline, data };
  return { source, year, model, gpu, gpus, length, ...degrees, bits, tokensPerSecondPerGpu, distance: best.distance };
}

function distanceOf(job: Job, [, , , gpu, gpus, layers, hidden, experts, length, , , , bits]: PublishedRow): number {
  const { model, cluster, batch, kernels } = job;
  const own = Math.max(0, ...model.layers.map(({ ffn }) => (ffn.kind === 'moe' ? ffn.experts : 0)));
  if (own > 0 !== experts > 0) return Number.POSITIVE_INFINITY;
  const doublings = (one: number, other: number): number => Math.abs(Math.log2(one / other));
  // Layers x hidden^2 grows as the parameters of the layers do, whatever their attention is.
  const size = doublings(model.layers.length * model.hidden ** 2, layers * hidden ** 2);
  const ranks = own > 0 ? doublings(own, experts) / 2 : 0;
  const products = (kernels.products === undefined ? 16 : 8) === bits ? 0 : OTHER_BITS;
  const device = cluster.device.name === gpu ? 0 : OTHER_DEVICE;
  return size + ranks + products + device + (doublings(gpuCount(cluster), gpus) + doublings(batch.length, length)) / 2;
}
