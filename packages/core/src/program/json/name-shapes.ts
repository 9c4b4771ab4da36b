/** @file The closed sets of names in a program. The compiler checks that each set is complete. */
import type { AxisName } from '../../mesh/index.ts';
import type { DType } from '../../tensor/index.ts';
import type { CollectiveKind, Lane, PartialState, Role, WhyRule } from '../types.ts';
import { type NameShape, oneOf } from './shape.ts';

export const axisName: NameShape = oneOf<AxisName>('axis', {
  tensor: true,
  context: true,
  expert: true,
  data: true,
  pipeline: true,
  expertTensor: true,
  expertData: true,
});
export const dtype: NameShape = oneOf<DType>('type', {
  fp32: true,
  fp16: true,
  bf16: true,
  fp8: true,
  mxfp8: true,
  nvfp4: true,
  int32: true,
  u8: true,
});
export const reduce: NameShape = oneOf<PartialState['reduce']>('reduction', { sum: true, max: true });

export const role: NameShape = oneOf<Role>('role', {
  weight: true,
  gradient: true,
  optimizer: true,
  activation: true,
  exchange: true,
  scratch: true,
  input: true,
  logits: true,
});

export const lane: NameShape = oneOf<Lane>('lane', {
  compute: true,
  tensor: true,
  'data.gather': true,
  'data.reduce': true,
  'data.replicate': true,
  'host.out': true,
  'host.update': true,
  'host.in': true,
  ends: true,
  context: true,
  expert: true,
  'act.out': true,
  'act.in': true,
  'grad.out': true,
  'grad.in': true,
  control: true,
  host: true,
});

export const rule: NameShape = oneOf<WhyRule>('rule', {
  model: true,
  'gather-sequence': true,
  'gather-again': true,
  'sum-partial': true,
  'scatter-partial': true,
  'vocabulary-parallel': true,
  recompute: true,
  'next-stage': true,
  'previous-stage': true,
  'gather-updated': true,
  'gather-unit': true,
  'pass-keys': true,
  'pass-key-gradients': true,
  'gather-keys': true,
  'scatter-key-gradients': true,
  'heads-for-tokens': true,
  'reduce-gradient': true,
  'sum-sets': true,
  'copy-out': true,
  'copy-in': true,
  'sum-whole-parameters': true,
  'sum-tied': true,
  'sum-copies': true,
  'count-rows': true,
  'dispatch-rows': true,
  'return-rows': true,
  'gather-expert': true,
  'scatter-expert': true,
  'global-norm': true,
  optimizer: true,
  'mean-loss': true,
  lifetime: true,
});

export const collective: NameShape = oneOf<CollectiveKind>('collective', {
  'all-reduce': true,
  'reduce-scatter': true,
  'all-gather': true,
  broadcast: true,
  'all-to-all': true,
  shift: true,
});
