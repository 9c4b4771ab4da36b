/** Codes of plans: why a layout is not among them, and the pitfalls of the field. */
export const plan = {
  OUT_OF_MEMORY: {
    meaning: 'A stage needs more memory than a device has.',
    fix: 'Split more, shard more or recompute.',
  },
  MEMORY_AT_RISK: {
    meaning: 'A stage fits only if fragments, communicators and context stay small.',
    fix: 'Leave a margin: split more, shard more or recompute.',
  },
  NOTHING_FITS: {
    meaning: 'No legal layout fits the devices.',
    fix: 'Use more or larger devices, or a smaller batch.',
  },
  BUBBLE_OVER_10_PERCENT: {
    meaning: 'Stages wait for each other during more than a tenth of the step.',
    fix: 'Use more micro-batches, more chunks or fewer stages.',
  },
  FEW_MICRO_BATCHES: {
    meaning: 'There are fewer micro-batches than four times the stages.',
    fix: 'Use a smaller micro-batch, a larger batch or fewer stages.',
  },
  STAGES_UNBALANCED: {
    meaning: 'One stage holds far more memory than another.',
    fix: 'Move layers, or recompute on the full stages only.',
  },
  TENSOR_CROSSES_NODE: { meaning: 'A tensor group reaches over the network.', fix: 'Keep tensor groups in a node.' },
  TENSOR_ON_PCIE: {
    meaning: 'A tensor group of more than two ranks exchanges over PCIe.',
    fix: 'Use 2 or 1, or GPUs with a faster link.',
  },
  DATA_SYNC_EXPOSED: {
    meaning: 'Compute waits for the data axis during more than a tenth of the step.',
    fix: 'Use a larger batch, fewer data ranks or less sharding.',
  },
  STEP_TOO_LARGE: {
    meaning: 'The step has more operations than this process can hold at a time.',
    fix: 'Simulate fewer micro-batches with --micro-batches, or give Node a larger heap.',
  },
} as const;
