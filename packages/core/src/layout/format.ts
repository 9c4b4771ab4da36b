/** @file The short form of a layout: `tp=8,pp=4,dp=2,vpp=2,mbs=1,zero=1,ac=selective,schedule=interleaved-1f1b,sp=on`. */
import { frameworks } from '../frameworks/index.ts';
import { hasExpertGrid } from './experts.ts';
import { axisShortNames, type LayoutKey, layoutKeys } from './keys.ts';
import { defaultReduction, replicasOf } from './normal.ts';
import { overlapKinds, overlapOf } from './overlap.ts';
import { formatOverrides } from './overrides.ts';
import type { Layout } from './types.ts';

/** What goes without saying. */
const usual = frameworks.meshwright;

const usualOverlap = overlapOf(overlapKinds.filter((kind) => usual.overlap.value[kind]));

/** How much the short form says. */
export interface FormatOptions {
  /** Every key: the same layout is read again whatever the defaults are. Absent: only what a reader would miss. */
  readonly exact?: boolean;
}

/** The short form, keys in a stable order. Without `exact`, keys at their usual value and an even split are left out. */
export function formatLayout(layout: Layout, options: FormatOptions = {}): string {
  return layoutKeys
    .filter((key) => options.exact || isShown(layout, key.name))
    .map((key) => `${key.short}=${formatLayoutValue(layout, key)}`)
    .join(',');
}

/** The value of one key as the short form writes it. */
export function formatLayoutValue(layout: Layout, key: LayoutKey): string {
  const value = layout[key.name];
  if (key.type === 'shards') return String(layout.data / layout.replicate);
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value !== 'object') return String(value);
  if (key.type === 'overrides') return formatOverrides(layout.layers);
  if (key.type === 'set') return layout.overlap.join('+') || 'none';
  if (key.type === 'axes') return layout.order.map((axis) => axisShortNames[axis]).join('-');
  return value.join('-');
}

function isShown(layout: Layout, key: keyof Layout): boolean {
  switch (key) {
    case 'tensor':
    case 'pipeline':
    case 'data':
    case 'microBatch':
    case 'recompute':
      return true;
    case 'sharding':
      return replicasOf(layout) > 1;
    case 'offload':
      return layout.offload !== 'none';
    case 'replicate':
      return layout.replicate > 1;
    case 'context':
    case 'contextKind':
      return layout.context > 1;
    case 'expert':
      return layout.expert > 1;
    case 'expertTensor':
      return hasExpertGrid(layout);
    case 'chunks':
      return layout.chunks > 1;
    case 'schedule':
      return layout.pipeline > 1;
    case 'sequenceParallel':
      return layout.tensor > 1;
    case 'layers':
      return layout.layers.length > 0;
    case 'keepGathered':
      return layout.keepGathered;
    case 'prefetch':
      return layout.prefetch !== usual.prefetch.value;
    case 'lossChunks':
      return layout.lossChunks > 1;
    case 'reshard':
      return !layout.reshard;
    case 'bucketMB':
      return layout.bucketMB !== usual.bucketMB.value;
    case 'gradientType':
      return layout.gradientType !== usual.gradientType.value;
    case 'gradientReduction':
      return layout.gradientReduction !== defaultReduction(layout.sharding);
    case 'overlap':
      return overlapOf(layout.overlap) !== usualOverlap;
    case 'layersPerStage':
      return layout.layersPerStage.some((layers) => layers !== layout.layersPerStage[0]);
    case 'order':
      return layout.order.some((axis, index) => axis !== usual.order.value[index]);
  }
}
