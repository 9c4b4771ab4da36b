/** @file Cases of the rules in ../recompute.ts. */
import type { RuleCase } from './rule-case.fixture.ts';

const none = 'none' as const;
const full = 'full' as const;

export const recomputeCases: readonly RuleCase[] = [
  {
    code: 'RECOMPUTED_LAYERS_NOT_FIRST',
    framework: 'megatron',
    breaks: {
      recomputeOfChunks: [
        [full, full, none],
        [full, none, none],
      ],
    },
    passes: { recomputeOfChunks: [[full, full, none], [full, full], [full]] },
    says: 'layout.layers: layers are recomputed that are not the same number of first layers of every chunk. Recompute the first N layers of every chunk in whole and none of the others.',
  },
  {
    code: 'RECOMPUTED_LAYERS_NOT_EVERY_NTH',
    framework: 'torchtitan',
    breaks: {
      pipeline: 2,
      recomputeOfChunks: [
        [none, full],
        [full, none],
        [none, full],
        [none, full],
      ],
    },
    passes: {
      recomputeOfChunks: [
        [none, full, none],
        [none, full],
        [full, none],
        [none, full],
      ],
    },
    says: 'layout.layers: layers are recomputed that are not every second, third or so-manyth layer of each rank. Recompute every N-th layer of each rank in whole and none of the others.',
  },
  {
    code: 'RECOMPUTED_LAYERS_NOT_OFFERED',
    framework: 'nanotron',
    breaks: { recomputeOfChunks: [[full, none]] },
    passes: { recomputeOfChunks: [[full, full]] },
    says: 'layout.layers: some layers recompute otherwise than the others. Use recompute for all layers.',
  },
];
