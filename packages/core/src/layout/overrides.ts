/** @file Layers that do otherwise than their layout says: their normal form and their text. */
import type { LayoutJob } from './job.ts';
import type { LayerOverride, Layout, Recompute } from './types.ts';

/** All layers do as the layout says. */
export const noOverrides: readonly LayerOverride[] = Object.freeze([]);

type Recomputation = Pick<Layout, 'recompute' | 'layers'>;

/** What each of `count` layers recomputes. */
export function recomputeOfLayers({ recompute, layers }: Recomputation, count: number): readonly Recompute[] {
  const each = new Array<Recompute>(count).fill(recompute);
  for (const override of layers) each.fill(override.recompute, override.from, override.to + 1);
  return each;
}

/** Some layer keeps what backward reads: there is something that it can keep or gather again. */
export const keepsSome = ({ recompute, layers }: Recomputation): boolean =>
  recompute !== 'full' || layers.some((each) => each.recompute !== 'full');

const kinds: readonly Recompute[] = ['none', 'selective', 'full'];

/** The same in one way: `recompute` is what most layers do (of equally many, the least), and `layers` the rows of others. */
export function overridesWithEffect(job: LayoutJob, given: Recomputation): Recomputation {
  if (given.layers.length === 0) return { recompute: recomputeWithEffect(job, given.recompute), layers: noOverrides };
  const each = recomputeOfLayers(given, job.model.layers.length).map((kind) => recomputeWithEffect(job, kind));
  const countOf = (kind: Recompute): number => each.filter((other) => other === kind).length;
  const recompute = kinds.reduce((most, kind) => (countOf(kind) > countOf(most) ? kind : most));
  return { recompute, layers: rowsOf(each).filter((row) => row.recompute !== recompute) };
}

/** Layers of one kind in a row, as overrides of a layout that says nothing. */
function rowsOf(each: readonly Recompute[]): readonly LayerOverride[] {
  const rows: LayerOverride[] = [];
  each.forEach((recompute, at) => {
    const last = rows.at(-1);
    if (last?.recompute === recompute) rows[rows.length - 1] = { ...last, to: at };
    else rows.push({ from: at, to: at, recompute });
  });
  return rows;
}

/** `0-9:full+20-20:none`. */
export const formatOverrides = (layers: readonly LayerOverride[]): string =>
  layers.length === 0 ? 'none' : layers.map(({ from, to, recompute }) => `${from}-${to}:${recompute}`).join('+');

/** Selective recomputation drops scores, which blockwise attention never stores, and what latent attention widens. */
export const recomputeWithEffect = (job: LayoutJob, recompute: Recompute): Recompute =>
  recompute === 'selective' && job.kernels.attention === 'flash' && !hasLatentAttention(job) ? 'none' : recompute;

/** Some layer makes keys and values from narrow vectors. */
const hasLatentAttention = ({ model }: LayoutJob): boolean =>
  model.layers.some(({ attention }) => attention.kind === 'latent');
