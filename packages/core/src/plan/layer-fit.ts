/** @file Does one layer fit a device at all? Where it does not, no number of stages helps, and neither does recomputation. */
import { capacityBytes } from '../cluster/index.ts';
import { type BlockCount, frozenPerParameter, statePerParameter } from '../compile/index.ts';
import { type Issue, issue } from '../errors/index.ts';
import type { Layout } from '../layout/index.ts';
import { countParameters } from '../model/index.ts';
import { bytes, formatBytes, formatCount } from '../units/index.ts';
import type { Evaluator } from './evaluate/index.ts';

/** Weights, gradients and optimizer of one layer, the largest, on one rank, in bytes. */
function layerStateBytes(evaluator: Evaluator, layout: Layout): number {
  const { weights, gradients, optimizer } = statePerParameter(evaluator.job, layout);
  const ofFrozen = frozenPerParameter(evaluator.job, layout);
  const bytesOfLayer = ({ summed, rest, frozen = 0 }: BlockCount): number =>
    (summed + rest) * (weights + gradients + optimizer) + frozen * ofFrozen;
  return Math.max(...evaluator.countsOf(layout).layers.map(bytesOfLayer));
}

/** {@link layerStateBytes} against the device, once for each choice of degrees and types. */
export function layerFits(evaluator: Evaluator): (layout: Layout) => boolean {
  const capacity = capacityBytes(evaluator.job.cluster);
  const known = new Map<number, Map<number, boolean>>();
  return (layout) => {
    const { tensor, data, replicate, context, expert, expertTensor, sharding, sequenceParallel, gradientType } = layout;
    const dense = (tensor * 2 ** 17 + data) * 2 ** 17 + context;
    const kind = sharding * 8 + (sequenceParallel ? 4 : 0) + (gradientType === 'fp32' ? 2 : 0);
    const reduction = layout.gradientReduction === 'per-step' ? 1 : 0;
    const rest =
      ((expert * 2 ** 13 + expertTensor) * 2 ** 17 + replicate) * 128 +
      kind +
      reduction +
      (layout.offload === 'optimizer' ? 64 : 0);
    const ofDense = known.get(dense) ?? new Map<number, boolean>();
    const fits = ofDense.get(rest) ?? layerStateBytes(evaluator, layout) <= capacity;
    ofDense.set(rest, fits);
    known.set(dense, ofDense);
    return fits;
  };
}

/** Says that a layer of `layout` is too large, with the fewest devices that could hold it. */
export function layerIssue(evaluator: Evaluator, layout: Layout): Issue {
  const { job } = evaluator;
  const capacity = capacityBytes(job.cluster);
  const mine = layerStateBytes(evaluator, layout);
  const alone = { ...layout, tensor: 1, sequenceParallel: false, data: 1, replicate: 1, sharding: 0 } as const;
  const whole = layerStateBytes(evaluator, alone);
  const devices = Math.ceil(whole / capacity);
  const parameters = Math.max(...countParameters(job.model).perLayer);
  const share = layout.tensor > 1 ? `, ${formatBytes(bytes(mine))} on each of ${layout.tensor} tensor ranks` : '';
  const what = `one layer of ${formatCount(parameters)} parameters has ${formatBytes(bytes(whole))} of state${share}, more than the ${formatBytes(capacity)} of a device.`;
  const degree = 2 ** Math.ceil(Math.log2(devices));
  const fix = `Use tensor ${degree} or more (${(whole / capacity).toFixed(2)} devices hold a layer), or shard the state over data ranks.`;
  const values = { stateBytes: Math.round(whole), rankBytes: Math.round(mine), capacityBytes: capacity, devices };
  return issue('LAYER_DOES_NOT_FIT', 'layout.tensor', what, fix, values);
}
