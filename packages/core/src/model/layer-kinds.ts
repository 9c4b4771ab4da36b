/** @file Layers of several kinds: which of a model's layers are alike, and a name for each kind. */
import type { LayerSpec, ModelSpec } from './types.ts';

/** Layers that are alike for sequences of one length. */
export interface LayerKind {
  /** What tells it from the model's other kinds: `moe`, `window.dense`; empty where all layers are alike. */
  readonly name: string;
  /** Without a window that is no shorter than the sequence. */
  readonly layer: LayerSpec;
  /** The first layer of the kind. */
  readonly first: number;
}

export interface LayerKinds {
  /** In the order of their first layers. */
  readonly kinds: readonly LayerKind[];
  /** Kind of each layer, as an index into `kinds`. */
  readonly kindOf: readonly number[];
}

/** The kinds of a model's layers at sequences of `length` tokens: a window or a chunk that is no shorter is none. Under
 * adapters the first layer is of its own kind: nothing below it is trained, so no gradient leaves it.
 */
export function layerKinds(model: ModelSpec, length: number): LayerKinds {
  const { kinds, kindOf } = kindsBySpec(model, length);
  const [lowest = 0] = kindOf;
  const [first] = kinds;
  const again = kindOf.indexOf(lowest, 1);
  if (model.adapters === undefined || first === undefined || again < 0) return { kinds, kindOf };
  const name = (own: string, kind: string): string => [kind, own].filter((word) => word !== '').join('.');
  return {
    kinds: [
      { ...first, name: name(first.name, 'lowest') },
      { ...first, name: name(first.name, 'upper'), first: again },
      ...kinds.slice(1).map((kind) => ({ ...kind, name: name(kind.name, 'upper') })),
    ],
    kindOf: kindOf.map((kind, index) => (index === 0 ? 0 : kind + 1)),
  };
}

function kindsBySpec(model: ModelSpec, length: number): LayerKinds {
  const bySpec = new Map<LayerSpec, number>();
  const byText = new Map<string, number>();
  const found: { readonly layer: LayerSpec; readonly first: number }[] = [];
  const kindOf = model.layers.map((spec, first) => {
    const known = bySpec.get(spec);
    if (known !== undefined) return known;
    const layer = withoutIdleWindow(spec, length);
    const text = JSON.stringify(layer);
    const kind = byText.get(text) ?? found.length;
    if (kind === found.length) found.push({ layer, first });
    byText.set(text, kind);
    bySpec.set(spec, kind);
    return kind;
  });
  const names = kindNames(found.map(({ layer }) => layer));
  return { kinds: found.map((each, index) => ({ ...each, name: names[index] ?? '' })), kindOf };
}

function withoutIdleWindow(layer: LayerSpec, length: number): LayerSpec {
  const { window, chunked: _chunked, ...attention } = layer.attention;
  return window === undefined || window < length ? layer : { ...layer, attention };
}

/** What can tell layers apart, in words. */
const traits: readonly ((layer: LayerSpec) => string)[] = [
  ({ attention }) => (attention.window === undefined ? 'full' : attention.chunked ? 'chunked' : 'window'),
  ({ attention }) => (attention.rotary ? 'rotary' : 'no-positions'),
  ({ ffn }) => ffn.kind,
];

/** Names made of the traits in which the kinds differ; numbered where these do not tell them apart. */
function kindNames(layers: readonly LayerSpec[]): readonly string[] {
  if (layers.length < 2) return layers.map(() => '');
  const telling = traits.filter((trait) => new Set(layers.map(trait)).size > 1);
  const words = layers.map((layer) => telling.map((trait) => trait(layer)).join('.') || 'kind');
  return words.map((word, index) => {
    const alike = words.filter((other) => other === word).length > 1;
    return alike ? `${word}-${words.slice(0, index + 1).filter((other) => other === word).length}` : word;
  });
}
