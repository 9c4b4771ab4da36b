import type { MemoryRole } from '../palette/index.ts';

/** The parts of memory with their colours, from the bottom of a stack up. */
export const memoryParts: readonly (readonly [part: string, role: MemoryRole])[] = [
  ['weights', 'weights'],
  ['gradients', 'gradients'],
  ['optimizer', 'optimizer'],
  ['activations', 'activations'],
  ['logits', 'buffers'],
  ['buffers', 'buffers'],
];
