import { countParameters, type LayerSpec, type ModelSpec } from '@meshwright/core/model';

/** Blocks of a model that are alike, in one row. */
export interface BlockRow {
  /** `embedding`, `layers 0-79`, `head`. */
  readonly block: string;
  readonly attention: string;
  readonly feedForward: string;
  /** Parameters of one block. */
  readonly each: number;
  readonly blocks: number;
}

/** The blocks of a model in order; neighbouring layers that are alike share a row. */
export function blockRows(model: ModelSpec): readonly BlockRow[] {
  const { embedding, head, perLayer } = countParameters(model);
  const rows: BlockRow[] = [end('embedding', embedding)];
  let first = 0;
  for (let index = 1; index <= model.layers.length; index++) {
    const layer = model.layers[first];
    if (layer === undefined || (model.layers[index] === layer && perLayer[index] === perLayer[first])) continue;
    rows.push({
      block: index - 1 === first ? `layer ${first}` : `layers ${first}-${index - 1}`,
      attention: attentionOf(layer),
      feedForward: feedForwardOf(layer),
      each: perLayer[first] ?? 0,
      blocks: index - first,
    });
    first = index;
  }
  return [...rows, end(model.tied ? 'head (matrix of the embedding)' : 'head', head)];
}

const end = (block: string, each: number): BlockRow => ({ block, attention: '', feedForward: '', each, blocks: 1 });

function attentionOf({ attention, placement = 'pre' }: LayerSpec): string {
  const { heads, kvHeads, headSize, window } = attention;
  const shared = heads === kvHeads ? '' : `, ${kvHeads} for keys`;
  const latent = attention.kind === 'latent' ? `, latent ${attention.keyValueRank}` : '';
  const seen = window === undefined ? '' : attention.chunked ? `, chunks of ${window}` : `, window ${window}`;
  const beside = placement.startsWith('parallel') ? ', beside the feed-forward' : '';
  return `${heads} heads of ${headSize}${shared}${latent}${seen}${beside}`;
}

function feedForwardOf({ ffn }: LayerSpec): string {
  const width = `${ffn.width}${ffn.gated ? ' gated' : ''}`;
  if (ffn.kind === 'dense') return width;
  const shared = ffn.shared ? `, ${ffn.shared.width} shared` : '';
  return `${ffn.topK} of ${ffn.experts} experts of ${width}${shared}`;
}
