/** @file Job files that are read: every number in its range, from the least to the most that readers allow. */
import type { Draws } from './random.ts';

/** A power of two up to 2^`most`, or a number beside one. */
const size = (draws: Draws, most: number): number => {
  const power = 2 ** draws.whole(most + 1);
  return Math.max(1, draws.chance(0.04) ? power + draws.pick([-1, 1, 3]) : power);
};

const clusters = ['dgx-h100', 'dgx-a100', 'rtx-workstation', 'pcie-8x-a100', 'gb200-nvl72', 'hgx-h200'];

/** A job of dimensions, batch and nodes that have nothing to do with each other. */
export function extremeJob(draws: Draws): string {
  const heads = size(draws, 8);
  const headSize = 2 * size(draws, 7);
  const experts = draws.chance(0.3);
  const model = {
    kind: experts ? 'mixtral' : draws.pick(['llama', 'llama', 'gpt2']),
    layers: draws.pick([size(draws, 9), size(draws, 7), 48, 1, 512, 1000]),
    hidden: draws.chance(0.8) ? Math.min(2 ** 20, heads * headSize) : size(draws, 20),
    heads,
    ffn: size(draws, 22),
    vocab: size(draws, 24),
    ...(draws.chance(0.3) && { kvHeads: size(draws, 8) }),
    ...(draws.chance(0.2) && { headSize: size(draws, 16) }),
    ...(experts && { experts: size(draws, 12), topK: size(draws, 4) }),
    ...(draws.chance(0.2) && { slidingWindow: size(draws, 20) }),
    positions: 2 ** 28,
  };
  const batch = { sequences: size(draws, draws.pick([16, 30, 40])), length: size(draws, draws.pick([12, 20, 28])) };
  const cluster = `${size(draws, draws.pick([3, 6, 20]))}x ${draws.pick(clusters)}`;
  const precision = draws.pick(['bf16', 'bf16', 'fp32', 'fp16']);
  const framework = draws.pick([
    'meshwright',
    'meshwright',
    'megatron',
    'torchtitan',
    'deepspeed',
    'fsdp',
    'nanotron',
    'nemo',
  ]);
  return JSON.stringify({ model, cluster, batch, precision, framework });
}
