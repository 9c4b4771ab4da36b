/** @file Kinds of blocks: layers that are alike and that recompute alike have the same templates. */
import { type Layout, type Recompute, recomputeOfLayers } from '../layout/index.ts';
import { type LayerKind, layerKinds, type ModelSpec } from '../model/index.ts';

/** Layers that have the same templates. */
export interface BlockKind extends LayerKind {
  readonly recompute: Recompute;
}

export interface BlockKinds {
  /** By kind of layer, and of each from what recomputes least: the same list for all layouts that have the same kinds. */
  readonly kinds: readonly BlockKind[];
  /** Kind of each layer, as an index into `kinds`. */
  readonly kindOf: readonly number[];
}

/** The kinds of a model's layers under a layout. Where layers recompute differently their names say how: `moe.recomputed`. */
export function blockKinds(model: ModelSpec, length: number, layout: Pick<Layout, 'recompute' | 'layers'>): BlockKinds {
  const { kinds, kindOf } = layerKinds(model, length);
  const { recompute } = layout;
  if (layout.layers.length === 0) return { kinds: kinds.map((kind) => ({ ...kind, recompute })), kindOf };
  const each = recomputeOfLayers(layout, kindOf.length);
  const found = kinds.flatMap((kind, index) =>
    recomputes.flatMap((what) => {
      const first = kindOf.findIndex((of, layer) => of === index && each[layer] === what);
      const name = [kind.name, words[what]].filter((word) => word !== '').join('.');
      return first < 0 ? [] : [{ index, kind: { ...kind, name, first, recompute: what } }];
    }),
  );
  return {
    kinds: found.map(({ kind }) => kind),
    kindOf: kindOf.map((of, layer) =>
      found.findIndex(({ index, kind }) => index === of && kind.recompute === each[layer]),
    ),
  };
}

const recomputes: readonly Recompute[] = ['none', 'selective', 'full'];

const words: Readonly<Record<Recompute, string>> = { none: 'kept', selective: 'selective', full: 'recomputed' };
