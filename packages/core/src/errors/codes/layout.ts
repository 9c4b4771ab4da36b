/** Codes of layouts. */
export const layout = {
  DEGREES_NOT_GPUS: {
    meaning: 'Tensor, pipeline and data degree do not multiply to the number of GPUs.',
    fix: 'Change a degree, or leave data out: it takes what the others leave.',
  },
  HEADS_NOT_DIVISIBLE: {
    meaning: 'Query heads cannot be split evenly over the tensor ranks.',
    fix: 'Use a tensor degree that divides the number of heads.',
  },
  KV_HEADS_NOT_DIVISIBLE: {
    meaning: 'Key and value heads cannot be split evenly over the tensor ranks, and are not replicated.',
    fix: 'Use a tensor degree that divides the number of key and value heads.',
  },
  QUERY_KEY_NORM_NOT_SPLIT: {
    meaning: 'Queries and keys have one norm over all heads, which is not computed on a part of the heads.',
    fix: 'Use tensor 1.',
  },
  FFN_NOT_DIVISIBLE: {
    meaning: 'The feed-forward (or one expert) cannot be split evenly over the tensor ranks.',
    fix: 'Use a tensor degree that divides its width.',
  },
  EXPERT_NEEDS_EXPERTS: {
    meaning: 'An expert degree is given and the model has no experts.',
    fix: 'Leave expert out, or use 1.',
  },
  EXPERTS_NOT_DIVISIBLE: {
    meaning: 'The experts of a layer cannot be dealt out evenly to the expert ranks.',
    fix: 'Use an expert degree that divides the number of experts.',
  },
  EXPERT_WIDTH_NOT_DIVISIBLE: {
    meaning: 'An expert cannot be split evenly over the ranks inside it.',
    fix: 'Use an expertTensor degree that divides its width.',
  },
  EXPERT_GRID_NOT_RANKS: {
    meaning: 'The expert grid is made of the ranks of tensor x context x data, and its degrees do not divide them.',
    fix: 'Use degrees of expert and expertTensor whose product divides them.',
  },
  EXPERT_GRID_MOVES_PIPELINE: {
    meaning: 'In this order of axes a stage is made of other ranks in the expert grid than in the dense grid.',
    fix: 'Put pipeline last in the order, or first.',
  },
  EXPERTS_NEED_SEQUENCE_PARALLEL: {
    meaning:
      'Experts lie over ranks of their own and every tensor rank has the same tokens, so it would send each of them.',
    fix: 'Turn sequence parallelism on, or use expert 1 and expertTensor like tensor.',
  },
  HIDDEN_NOT_DIVISIBLE: {
    meaning: 'The width of the model cannot be split evenly over the tensor ranks.',
    fix: 'Use a tensor degree that divides the width.',
  },
  VOCABULARY_NOT_DIVISIBLE: {
    meaning: 'The vocabulary cannot be split evenly over the tensor ranks, and is not padded silently.',
    fix: 'Pad the vocabulary of the model to the named size, or use a tensor degree that divides it.',
  },
  SEQUENCE_NOT_DIVISIBLE: {
    meaning: 'Sequence parallelism shards the sequence over the tensor ranks, which do not divide its length.',
    fix: 'Turn sequence parallelism off, or use a length that the tensor degree divides.',
  },
  CONTEXT_SEQUENCE_NOT_DIVISIBLE: {
    meaning:
      'Context ranks cut each sequence into two equal pieces for each of them, which its length does not divide into.',
    fix: 'Use a context degree of which twice divides the length, or another length.',
  },
  CONTEXT_HEADS_NOT_DIVISIBLE: {
    meaning:
      'Context ranks that swap heads for tokens need whole heads, and a tensor rank does not have enough of them.',
    fix: 'Use ring or all-gather, fewer context ranks, or fewer tensor ranks.',
  },
  CONTEXT_ATTENTION_NOT_SPLIT: {
    meaning: 'The attention of the model, or its kernels, cannot be shared by context ranks.',
    fix: 'Use context 1, or blockwise attention kernels.',
  },
  LOSS_CHUNKS_NOT_DIVISIBLE: {
    meaning: 'The loss is taken in equal pieces of the sequence, which the number of pieces does not divide.',
    fix: 'Use a number of pieces that divides the tokens of a sequence on one rank.',
  },
  SEQUENCE_PARALLEL_NEEDS_TENSOR: {
    meaning: 'Sequence parallelism is on and there is one tensor rank.',
    fix: 'Turn it off, or use a tensor degree of 2 or more.',
  },
  LAYERS_FEWER_THAN_CHUNKS: {
    meaning: 'There are more chunks (stages x chunks per stage) than layers, and each needs one layer.',
    fix: 'Use fewer stages or fewer chunks per stage.',
  },
  LAYERS_PER_STAGE_LENGTH: {
    meaning: 'The list of layers per chunk does not have one entry for each chunk.',
    fix: 'Give pipeline x chunks entries, or leave the list out.',
  },
  LAYERS_PER_STAGE_EMPTY: {
    meaning: 'A chunk has no layer.',
    fix: 'Give every chunk at least 1 layer.',
  },
  LAYERS_PER_STAGE_SUM: {
    meaning: 'The list of layers per chunk does not add up to the layers of the model.',
    fix: 'Change the entries, or leave the list out.',
  },
  CHUNKS_NEED_PIPELINE: {
    meaning: 'Stages have several chunks and there is one stage.',
    fix: 'Use 1 chunk, or 2 stages or more.',
  },
  CHUNKS_NEED_INTERLEAVED: {
    meaning: 'Stages have several chunks and the schedule runs one.',
    fix: 'Use interleaved-1f1b, or 1 chunk.',
  },
  INTERLEAVED_NEEDS_CHUNKS: {
    meaning: 'The interleaved schedule needs several chunks per stage.',
    fix: 'Use 2 chunks or more, or the schedule 1f1b.',
  },
  FOLD_NEEDS_TWO_CHUNKS: {
    meaning: 'A schedule that goes down the stages and back up needs two chunks per stage.',
    fix: 'Use 2 chunks.',
  },
  STAGES_NOT_EVEN: {
    meaning: 'DualPipe pairs each stage with the one that holds the same layers, and the number of stages is odd.',
    fix: 'Use an even number of stages, or dualpipe-v.',
  },
  SCHEDULE_NEEDS_STAGES: {
    meaning: 'A pipeline schedule is given and there is one stage.',
    fix: 'Use the schedule none, or 2 stages or more.',
  },
  STAGES_NEED_SCHEDULE: {
    meaning: 'There are several stages and the schedule is none.',
    fix: 'Use a pipeline schedule, or 1 stage.',
  },
  MICRO_BATCHES_NOT_MULTIPLE: {
    meaning: 'The interleaved schedule takes micro-batches in groups of as many as there are stages.',
    fix: 'Use a micro-batch that leaves a multiple of the stages, or the schedule 1f1b.',
  },
  MICRO_BATCHES_TOO_MANY: {
    meaning: 'A step has more micro-batches than a schedule can number.',
    fix: 'Use larger micro-batches or more data ranks.',
  },
  BATCH_NOT_DIVISIBLE: {
    meaning: 'The global batch cannot be split evenly over data ranks and micro-batches.',
    fix: 'Use a micro-batch, a data degree or a batch that divides.',
  },
  REDUCTION_NEEDS_SHARDING: {
    meaning: 'Gradients are whole on every data rank and are to be reduced for every micro-batch.',
    fix: 'Use per-step, or sharding 2 or 3.',
  },
  SHARD_NOT_DIVISOR: {
    meaning: 'The data ranks cannot be split into sets of as many ranks as share out the state.',
    fix: 'Use a number of ranks that divides the data degree.',
  },
  ADAPTERS_NOT_SHARDED: {
    meaning:
      'Sharding 3 of a model with adapters would gather three buckets for a layer, or frozen weights for a backward that does not read them.',
    fix: 'Use sharding 0, 1 or 2, leave experts on the dense grid, or put adapters on the attention too.',
  },
  SHARDS_NOT_WITH_EXPERTS: {
    meaning: 'Experts lie over a grid of their own, and the ranks of one set of shards do not hold them once.',
    fix: 'Use larger sets of shards or fewer expert ranks, with the data axis behind tensor, context and expert in the order.',
  },
  ORDER_AXIS_TWICE: {
    meaning: 'An axis stands twice in the order of the mesh.',
    fix: 'Name each axis once.',
  },
  OVERRIDE_OUT_OF_RANGE: {
    meaning: 'An override names layers that the model does not have.',
    fix: 'Count layers from 0 to one less than there are, the first not behind the last.',
  },
  OVERRIDES_OVERLAP: {
    meaning: 'Two overrides speak of the same layer.',
    fix: 'Give each layer one override.',
  },
  LAYOUT_KEY_WITHOUT_EFFECT: {
    meaning: 'A layout key is given that changes nothing beside the other keys.',
    fix: 'Leave the key out.',
  },
} as const;
