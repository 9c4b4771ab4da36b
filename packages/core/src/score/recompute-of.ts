/** @file What of the forward pass a run computes again. */
import type { Recompute } from '../layout/index.ts';
import type { RunRow } from './run-row.ts';
import { type Outcome, skip } from './skip.ts';

/** A kind of recomputation, and the share of the step's recomputable work beyond it that is done again. */
export interface RecomputeOfRun {
  readonly kind: Recompute;
  /** 0: the kind says it all; 0.5: half way to full recomputation. */
  readonly share: number;
  /** The same of the bytes that are kept; `share` where absent. */
  readonly memoryShare?: number;
  /** The row leaves open whether more is given up: see lightest.ts. */
  readonly open: boolean;
  readonly assumed: readonly string[];
}

/** The recomputation of a run. */
export function recomputeOf(row: RunRow): Outcome<RecomputeOfRun> {
  const text = row.recompute.toLowerCase();
  const megatron = /megatron|nemo|bridge/i.test(row.framework);
  if (text === '') return { value: { kind: 'none', share: 0, open: true, assumed: ['recomputation: none'] } };
  if (text.startsWith('none')) return { value: { kind: 'none', share: 0, open: false, assumed: [] } };
  if (text.startsWith('full')) return { value: { kind: 'full', share: 0, open: false, assumed: [] } };
  if (!text.startsWith('selective')) return skip('recompute-unknown', row.recompute);
  if (text.includes('remat_policy')) return policyOf(row, text);
  if (megatron) {
    const modules = text.includes('module');
    return {
      value: { kind: 'selective', share: 0, open: modules, assumed: modules ? ['recomputation: scores only'] : [] },
    };
  }
  // torchtitan per operation: every second product is kept, and attention; per layer: every second layer.
  return { value: { kind: 'none', share: 0.5, open: false, assumed: ['recomputation: half of the forward pass'] } };
}

/** Policies of JAX name the products that are kept; the share is that of FLOPs that are not. */
function policyOf(row: RunRow, text: string): Outcome<RecomputeOfRun> {
  const { hidden = 0, ffn_hidden: ffn = 0, heads = 1, kv_heads: kv = heads } = row;
  const query = hidden * hidden;
  const keyValue = (2 * hidden * hidden * kv) / heads;
  const inner = 2 * hidden * ffn;
  const outer = hidden * ffn;
  const all = 2 * query + keyValue + inner + outer;
  const again = text.includes('except_mlpwi')
    ? inner
    : text.includes('except_mlp')
      ? inner + outer
      : all - query - keyValue;
  const share = again / all;
  // Outputs of the named products stay; of a layer that keeps all, so do two norms, the attention, the residual and 3 f.
  const projected = hidden + (2 * hidden * kv) / heads;
  const named = text.includes('except_mlpwi') ? 2 * hidden : text.includes('except_mlp') ? hidden : 0;
  const memoryShare = 1 - (projected + named) / (projected + 4 * hidden + 3 * ffn);
  const assumed = [`recomputation: ${Math.round(100 * share)} % of the forward pass`];
  return { value: { kind: 'none', share, memoryShare, open: false, assumed } };
}
