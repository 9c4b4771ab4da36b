/** @file Rows of latent attention (MLA). A head's query and key have `nopeSize` values without positions and `ropeSize`
 * rotary ones; the rotary part of the key is one for all heads, [s b r] beside the heads' own [nope, value] in `kv`.
 * Attributes: `heads`, `nopeSize`, `ropeSize`, `valueSize`. Source: [deepseek2024], section 2.1.
 */
import type { AttentionWork } from '../work.ts';
import { attribute, type KernelRow, memoryRow, readBytes, writtenBytes } from './row.ts';
import { parseSignature } from './signature.ts';

export type LatentKernel =
  | 'latent-norm'
  | 'latent-norm.dx'
  | 'rope-part'
  | 'rope-part.dx'
  | 'latent-attention'
  | 'latent-attention.dx';

/** Causal, blockwise. Forward: scores over nope + rope values and outputs over `valueSize`; backward makes the scores once
 * more and has the gradients of scores, queries and keys, and values.
 */
function latentAttention(signature: string, direction: 'forward' | 'backward'): KernelRow {
  return {
    signature: parseSignature(signature),
    reduce: 'sum',
    variadic: false,
    work: (operands): AttentionWork => {
      const query = operands.reads[direction === 'forward' ? 0 : 1];
      const [sequence = 0, batch = 0, width = 0] = query?.dims ?? [];
      const headSize = attribute(operands, 'nopeSize') + attribute(operands, 'ropeSize');
      const valueSize = attribute(operands, 'valueSize');
      const heads = Math.round(width / headSize);
      const values = direction === 'forward' ? headSize + valueSize : 3 * headSize + 2 * valueSize;
      return {
        kind: 'attention',
        direction,
        sequence,
        batch,
        heads,
        kvHeads: heads,
        headSize,
        dtype: query?.dtype ?? 'fp32',
        flops: 2 * batch * heads * values * (sequence ** 2 / 2),
        bytesRead: readBytes(operands),
        bytesWritten: writtenBytes(operands),
      };
    },
  };
}

export const latentRows: Readonly<Record<LatentKernel, KernelRow>> = {
  // An RMS norm of the leading values; the rest, the rotary part of the key, passes.
  'latent-norm': memoryRow('kl:[s b l!] w:[c] -> kc:[s b c] kr:[s b r] st:[1 s b]', 5),
  'latent-norm.dx': memoryRow('dkc:[s b c!] dkr:[s b r!] kl:[s b l!] st:[1 s b] w:[c] -> dkl:[s b l] dw:[c]', 11),
  // Turns the last `ropeSize` of every `nopeSize` + `ropeSize` values.
  'rope-part': memoryRow('x:[s! b p] -> out:[s b p]', 3),
  'rope-part.dx': memoryRow('dx~:[s! b p] -> out~:[s b p]', 3),
  'latent-attention': latentAttention('q:[s! b p] kv:[s b p*] kr:[s b r] -> o:[s b p*] lse:[p* s b]', 'forward'),
  'latent-attention.dx': latentAttention(
    'do:[s! b p*] q:[s b p] kv:[s b p*] kr:[s b r] o:[s b p*] lse:[p* s b] -> dq:[s b p] dkv:[s b p*] dkr:[s b r]',
    'backward',
  ),
};
