/** @file The model of a run with experts: the public model that the row names, or the row's own dimensions. */
import { type ModelShape, type ModelSpec, modelFromShape, type PresetName, presets } from '../model/index.ts';
import type { RunRow } from './run-row.ts';
import { type Outcome, skip } from './skip.ts';

/** A model with what was assumed to build it. */
export interface ModelOfRun {
  readonly model: ModelSpec;
  readonly assumed: readonly string[];
}

/** The mixture of a run; `pad` gives the rows of the embedding for a vocabulary. */
export function mixtureOf(row: RunRow, pad: (vocabulary: number) => number): Outcome<ModelOfRun> {
  const shape = row.preset === '' ? statedShape(row) : presetShape(row);
  if (shape.skipped) return shape;
  const { layers, hidden, vocab } = shape.value;
  const name = row.preset === '' ? `mixture-${layers}x${hidden}` : row.preset;
  const { model, issues } = modelFromShape({ ...shape.value, vocab: pad(vocab) }, name, (key) => `model.${key}`);
  if (model === undefined) return skip('dimensions-illegal', issues.map((each) => each.message).join(' '));
  const assumed = [
    'experts: tokens spread evenly, none dropped',
    ...(model.mtp ? ['modules that predict further tokens: left out'] : []),
  ];
  return { value: { model, assumed } };
}

/** The shape of a public model with the layers and the vocabulary of the row; all else that the row states must agree. */
function presetShape(row: RunRow): Outcome<ModelShape> {
  if (!Object.hasOwn(presets, row.preset)) return skip('dimensions-missing', `no model is named ${row.preset}`);
  const shape = presets[row.preset as PresetName].dimensions;
  const { expertFfn = shape.ffn, sharedExperts = 0 } = shape;
  const shared = shape.sharedFfn ?? sharedExperts * (expertFfn ?? 0);
  const pairs = {
    hidden: [row.hidden, shape.hidden],
    heads: [row.heads, shape.heads],
    experts: [row.experts, shape.experts],
    top_k: [row.top_k, shape.topK],
    expert_ffn: [row.expert_ffn, expertFfn],
    shared_ffn: [row.shared_ffn, shared],
    dense_layers: [row.dense_layers, shape.denseFirst],
    ...(shape.keyValueRank === undefined && { kv_heads: [row.kv_heads, shape.kvHeads] }),
  };
  const wrong = Object.entries(pairs).filter(([, [said, known]]) => said !== undefined && said !== known);
  if (wrong.length > 0) {
    const words = wrong.map(([key, [said, known]]) => `${key} ${said}, in ${row.preset} ${known}`);
    return skip('dimensions-illegal', words.join('; '));
  }
  const { layers = shape.layers, vocab = shape.vocab } = row;
  return { value: { ...shape, layers, vocab } };
}

/** A mixture of gated experts behind grouped-query attention, in the dimensions of the row. */
function statedShape(row: RunRow): Outcome<ModelShape> {
  const { hidden = 0, heads = 0, vocab = 0, seq = 0, expert_ffn: expertFfn = 0 } = row;
  const needed = ['layers', 'hidden', 'heads', 'vocab', 'seq', 'experts', 'top_k', 'expert_ffn'] as const;
  const blank = needed.filter((column) => row[column] === undefined);
  if (blank.length > 0) return skip('dimensions-missing', blank.join(', '));
  if (!/glu/i.test(row.ffn_act)) return skip('dimensions-missing', `experts with ${row.ffn_act || 'no'} activation`);
  const optional = {
    kvHeads: row.kv_heads,
    headSize: row.head_dim,
    experts: row.experts,
    topK: row.top_k,
    sharedFfn: row.shared_ffn,
    denseFirst: row.dense_layers,
  };
  const given: Partial<ModelShape> = Object.fromEntries(
    Object.entries(optional).filter(([, value]) => value !== undefined),
  );
  const activation = /geglu/i.test(row.ffn_act) ? 'gelu' : 'silu';
  return {
    value: {
      kind: 'mixtral',
      layers: row.layers ?? 0,
      hidden,
      heads,
      vocab,
      positions: seq,
      ffn: row.ffn_hidden ?? expertFfn,
      expertFfn,
      activation,
      ...given,
    },
  };
}
