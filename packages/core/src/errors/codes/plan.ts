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
  RING_LATENCY_BOUND: {
    meaning: 'More than half of the time of the exchanges of an axis is latency: their messages are too small.',
    fix: 'Use larger buckets or micro-batches, fewer ranks on the axis, or an algorithm of few steps.',
  },
  UNITS_TOO_SMALL: {
    meaning: 'More than half of the time in which sharded units are gathered and reduced is latency.',
    fix: 'Gather several blocks as one unit, or shard over fewer ranks.',
  },
  HOST_MEMORY_EXCEEDED: {
    meaning: 'The ranks of a node keep more in host memory than the node has.',
    fix: 'Share the state out over more ranks, or leave it on the devices.',
  },
  UNITS_TOO_LARGE: {
    meaning: 'Units that are gathered for use hold more than a fifth of a device.',
    fix: 'Split layers over tensor ranks, use smaller units, or gather fewer ahead.',
  },
  RANKS_OUT_OF_ORDER: {
    meaning: 'A tensor group reaches over more nodes than its size needs, because of the order of the axes.',
    fix: 'Number tensor ranks first.',
  },
  LAYER_DOES_NOT_FIT: {
    meaning: 'The state of one layer is larger than a device, so no number of stages helps.',
    fix: 'Use more tensor ranks, or shard the state over data ranks.',
  },
  STEP_TOO_LARGE: {
    meaning: 'The step has more operations than are written out, or than this process can hold at a time.',
    fix: 'Use fewer stages or chunks; simulate fewer micro-batches with --micro-batches, or give Node a larger heap.',
  },
} as const;
