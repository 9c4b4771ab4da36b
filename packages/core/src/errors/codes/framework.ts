/** Codes of what single frameworks refuse at launch, by their own arithmetic. */
export const framework = {
  WORLD_NOT_DIVISIBLE: {
    meaning: 'Tensor, pipeline and context degree do not divide the number of GPUs.',
    fix: 'Use degrees whose product divides them.',
  },
  DEGREE_NOT_OFFERED: {
    meaning: 'The framework does not have this axis.',
    fix: 'Use degree 1, or another framework.',
  },
  EXPERT_TENSOR_NOT_OFFERED: {
    meaning: 'The framework cuts experts over the tensor ranks or not at all.',
    fix: 'Use an expertTensor degree of 1 or that of tensor.',
  },
  OPTIMIZER_INSTANCES_NOT_DIVISIBLE: {
    meaning: 'Instances of the distributed optimizer do not divide the data ranks, or those of the experts.',
    fix: 'Use a number that divides both.',
  },
  RAMP_NOT_DIVISIBLE: {
    meaning:
      'A batch of the ramp cannot be split over data ranks and micro-batches, or the ramp misses the global batch.',
    fix: 'Use a start and steps that are multiples of data x micro-batch and that end at the global batch.',
  },
  EVALUATION_BATCH_NOT_DIVISIBLE: {
    meaning: 'The batch of validation cannot be split over data ranks and micro-batches.',
    fix: 'Use a multiple of data x micro-batch.',
  },
  BATCH_NOT_PRODUCT: {
    meaning: 'Micro-batch, accumulation and data degree do not multiply to the global batch.',
    fix: 'Change one of them, or leave one out: it takes what the others leave.',
  },
  LOCAL_BATCH_NOT_DIVISIBLE: {
    meaning: "The batch of a data rank cannot be cut into the pipeline's micro-batches.",
    fix: 'Use a micro-batch that divides it.',
  },
  HEADS_NOT_OVER_CONTEXT: {
    meaning: 'Heads cannot be dealt out to the sequence ranks.',
    fix: 'Use a context degree that divides the heads, and that divides the key and value heads or is a multiple of them.',
  },
  LINEAR_HEADS_NOT_DIVISIBLE: {
    meaning: 'Heads of linear attention cannot be split over tensor x context ranks.',
    fix: 'Use degrees whose product divides them.',
  },
  HIDDEN_NOT_HEADS: {
    meaning: 'The width of the model is no multiple of its heads and the size of a head is not given.',
    fix: 'Give the size of a head.',
  },
  LENGTH_NOT_OVER_CONTEXT: {
    meaning: 'Sequences cannot be cut into two pieces for each context rank.',
    fix: 'Use a length that is a multiple of twice the context degree (times tensor, for torchtitan).',
  },
  CONTEXT_LEVELS_NOT_CONTEXT: {
    meaning: 'The levels of hierarchical context exchanges do not multiply to the context degree.',
    fix: 'Use levels whose product is the context degree.',
  },
  LAYERS_NOT_DIVISIBLE: {
    meaning: 'The framework splits layers evenly over stages, and they do not divide.',
    fix: 'Use a pipeline degree that divides the layers, or write the layers of each stage out.',
  },
  CHUNKS_NOT_DIVISIBLE: {
    meaning: 'The framework splits the layers of a stage evenly over its chunks, and they do not divide.',
    fix: 'Use chunks that divide the layers of a stage, or write the layers of each stage out.',
  },
  UNEVEN_STAGES_NEED_PIPELINE: {
    meaning: 'The last stage has layers of its own and there is one stage.',
    fix: 'Leave the key out, or use 2 stages or more.',
  },
  UNEVEN_STAGES_CONFLICT: {
    meaning: 'Layers of end stages are given, and embedding or loss count as layers as well.',
    fix: 'Keep one of the two.',
  },
  UNEVEN_STAGES_NOT_DIVISIBLE: {
    meaning: 'With the given end stages, layers cannot be split evenly over the stages between, or over chunks.',
    fix: 'Change the layers of the end stages.',
  },
  ENDS_NOT_DIVISIBLE: {
    meaning: 'Layers with embedding and head as parts of their own cannot be split over the stages.',
    fix: 'Use a pipeline degree that divides layers + 2.',
  },
  INTERLEAVED_NEEDS_THREE_STAGES: {
    meaning:
      'The interleaved schedule runs on two stages, where both neighbours are one rank, and sends do not overlap.',
    fix: 'Let sends overlap, or use 3 stages or more.',
  },
  MICRO_BATCHES_NOT_ROUNDS: {
    meaning: 'Micro-batches cannot be taken in equal rounds by the looped schedule.',
    fix: 'Use a micro-batch that leaves equal rounds.',
  },
  MICRO_BATCHES_TOO_FEW: {
    meaning: 'The schedule needs more micro-batches for that many stages.',
    fix: 'Use smaller micro-batches or fewer stages.',
  },
  SCHEDULE_NOT_OFFERED: {
    meaning: 'The framework does not have this schedule.',
    fix: 'Use one of its own.',
  },
  VIRTUAL_STAGES_NOT_DIVISIBLE: {
    meaning: 'Layers per stage make a number of stages that is no multiple of the pipeline degree.',
    fix: 'Use other layers per stage.',
  },
  STAGE_WEIGHTS_TOO_LARGE: {
    meaning: 'Embedding or head weigh more than the layers of the smallest stage.',
    fix: 'Use smaller weights or fewer stages.',
  },
  SHARDING_NOT_WITH_PIPELINE: {
    meaning: 'The framework adds whole gradients up over micro-batches, which sharded ones are not.',
    fix: 'Use sharding 0 or 1, or 1 stage.',
  },
  SHARDING_NOT_OFFERED: {
    meaning: 'The framework does not share out gradients or weights.',
    fix: 'Use sharding 0 or 1.',
  },
  SHARDS_NOT_OFFERED: {
    meaning: 'The framework has no sets of shards that repeat each other under this sharding.',
    fix: 'Use a sharding that has them, or share the state out over all data ranks.',
  },
  OFFLOAD_NOT_OFFERED: {
    meaning: "The framework does not keep the optimizer's state alone in host memory under this sharding.",
    fix: 'Use a sharding under which it does, or offload none.',
  },
  EXPERTS_NOT_WITH_SHARDING: {
    meaning: 'The expert layer of the framework does not run under sharding 3.',
    fix: 'Use sharding 0, 1 or 2.',
  },
  REDUCTION_TYPE_NOT_OFFERED: {
    meaning: 'The framework does not reduce gradients in this type.',
    fix: 'Use fp32.',
  },
  TORCH_FSDP2_CONFLICT: {
    meaning: "PyTorch's FSDP2 inside Megatron-LM excludes another setting of the run.",
    fix: 'Change the named setting, or use the distributed optimizer.',
  },
  OWN_FSDP_CONFLICT: {
    meaning: 'Megatron-FSDP excludes another setting of the run.',
    fix: 'Change the named setting.',
  },
  GATHER_OVERLAP_NEEDS_SHARDING: {
    meaning: 'Parameters are to be gathered beside the forward, and nothing is sharded.',
    fix: 'Use the distributed optimizer, or turn the overlap off.',
  },
  STEP_OVERLAP_NEEDS_INTERLEAVED: {
    meaning: "Gathers are to overlap with the optimizer's step, which the interleaved schedule alone does.",
    fix: 'Use several chunks per stage, or turn the overlap off.',
  },
  TENSOR_OVERLAP_NEEDS_SEQUENCE: {
    meaning: 'Exchanges of tensor are to overlap with products, and sequence parallelism is off.',
    fix: 'Turn sequence parallelism on, or the overlap off.',
  },
  PIPELINE_TYPE_MISSING: {
    meaning: 'There are several stages and the type of what they send is not set.',
    fix: 'Set it to the type of the activations.',
  },
  DEFERRAL_NEEDS_PIPELINE: {
    meaning: 'Weight gradients of the head are deferred without stages or without fused accumulation.',
    fix: 'Use several stages with fused accumulation, or do not defer.',
  },
  ELASTIC_NOT_WITH_PIPELINE: {
    meaning: 'Elastic batches do not run with pipeline stages.',
    fix: 'Turn elasticity off, or use 1 stage.',
  },
  SEQUENCE_RANKS_EXCLUDE_MODEL_RANKS: {
    meaning: 'Sequence ranks of DeepSpeed do not run with tensor or pipeline ranks.',
    fix: 'Use context 1, or tensor 1 and pipeline 1.',
  },
  AUTO_EXPERTS_CONFLICT: {
    meaning: 'Experts by AutoEP under sharding 3 exclude another setting of the run.',
    fix: 'Leave the named setting out, or use sharding 0 to 2.',
  },
  ROUTING_GROUPS_WRONG: {
    meaning: 'Experts do not split into the routing groups, or a token may choose all of them.',
    fix: 'Use groups that divide the experts, and fewer chosen groups than there are.',
  },
  DISPATCHER_NEEDS_RANKS: {
    meaning: 'The dispatcher sends tokens between ranks and there is one.',
    fix: 'Use another dispatcher, or several expert ranks.',
  },
  RECOMPUTED_LAYERS_NOT_FIRST: {
    meaning: 'The framework recomputes the same number of first layers of every chunk, and others are asked for.',
    fix: 'Recompute the first N layers of every chunk in whole and none of the others.',
  },
  RECOMPUTED_LAYERS_NOT_EVERY_NTH: {
    meaning: 'The framework recomputes every so-manyth layer of a rank, and others are asked for.',
    fix: 'Recompute every N-th layer of each rank in whole and none of the others.',
  },
  RECOMPUTED_LAYERS_NOT_OFFERED: {
    meaning: 'The framework recomputes all layers alike.',
    fix: 'Use recompute for all layers.',
  },
} as const;
