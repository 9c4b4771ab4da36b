/** @file What a framework is told of a run, in our words: the layout, the model and the batch, and the switches of single
 * frameworks that its own arithmetic reads. Unknown is absent, and a rule that reads it is not asked.
 */

export interface FrameworkSetup {
  readonly gpus?: number;

  readonly layers?: number;
  readonly hidden?: number;
  readonly heads?: number;
  readonly kvHeads?: number;
  /** Size of a head where the model states it; absent: hidden over heads. */
  readonly headSize?: number;
  /** Experts of a layer; 0 for a model without. */
  readonly experts?: number;
  /** Key and value heads of layers with linear attention. */
  readonly linearKeyHeads?: number;
  readonly linearValueHeads?: number;
  /** One table serves as embedding and head. */
  readonly tied?: boolean;

  readonly tensor?: number;
  readonly pipeline?: number;
  readonly context?: number;
  readonly contextKind?: 'ring' | 'all-to-all' | 'all-gather' | 'hybrid';
  readonly expert?: number;
  readonly expertTensor?: number;
  /** Replicas of the model: what the batch is dealt out to. */
  readonly data?: number;
  /** Ranks of data that share weights out; the others hold copies of them. */
  readonly dataShard?: number;
  readonly sharding?: 0 | 1 | 2 | 3;
  readonly chunks?: number;
  readonly schedule?: string;
  /** Layers of each chunk, where they are written out. */
  readonly layersPerStage?: readonly number[];
  /** What each layer recomputes, chunk by chunk in model order; absent where all do the same. */
  readonly recomputeOfChunks?: readonly (readonly ('none' | 'selective' | 'full')[])[];
  readonly sequenceParallel?: boolean;
  readonly gradientType?: 'bf16' | 'fp32';
  readonly offload?: 'none' | 'optimizer';
  /** Pipeline stands before data in the order of ranks. */
  readonly pipelineBeforeData?: boolean;

  /** Sequences of the global batch and of a micro-batch, tokens of a sequence. */
  readonly sequences?: number;
  readonly microBatch?: number;
  readonly length?: number;
  readonly precision?: 'fp32' | 'bf16' | 'fp16' | 'fp8';

  readonly switches?: FrameworkSwitches;
}

/** Switches that are no layout keys, by the framework that has them. */
export interface FrameworkSwitches {
  /** Megatron-LM: batches of a ramp, from `start` by `increment` up to the global batch. */
  readonly rampStart?: number;
  readonly rampIncrement?: number;
  /** Megatron-LM: sequences of a validation batch. */
  readonly evaluationSequences?: number;
  /** Megatron-LM: the embedding and the loss take the place of a layer in the split. */
  readonly countsEmbedding?: boolean;
  readonly countsLoss?: boolean;
  /** Megatron-LM: layers of the first and of the last stage. */
  readonly firstStageLayers?: number;
  readonly lastStageLayers?: number;
  /** Megatron-LM: micro-batches that a chunk takes in a row. */
  readonly microBatchGroup?: number;
  /** Megatron-LM: sends run beside compute in the interleaved schedule. */
  readonly overlapsSends?: boolean;
  /** Megatron-LM: parameters are gathered beside the forward; beside the optimizer's step. */
  readonly overlapsGathers?: boolean;
  readonly overlapsStep?: boolean;
  /** Megatron-LM: exchanges of tensor run beside products. */
  readonly overlapsTensor?: boolean;
  /** Megatron-LM: groups of data ranks that each hold a whole optimizer. */
  readonly optimizerInstances?: number;
  /** Megatron-LM: weight gradients of the head are made after the pipeline; its products add into the gradient. */
  readonly defersWeightGradient?: boolean;
  readonly fusesAccumulation?: boolean;
  /** Megatron-LM: type of what stages send; absent is unknown, `none` is not set. */
  readonly pipelineType?: 'bf16' | 'fp16' | 'fp32' | 'none';
  /** Megatron-LM: FSDP2 of PyTorch in place of its own optimizer; connections that the device may have. */
  readonly torchFsdp2?: boolean;
  readonly maxConnections?: number;
  /** Megatron-LM: its own FSDP. */
  readonly ownFsdp?: boolean;
  /** Megatron-LM: sizes of the levels of context exchanges. */
  readonly contextLevels?: readonly number[];
  /** Megatron-LM: groups of experts and how many of them a token may choose; the dispatcher. */
  readonly routingGroups?: number;
  readonly routingTopGroups?: number;
  readonly dispatcher?: 'all-gather' | 'all-to-all' | 'flex';
  /** torchtitan: layers of a virtual stage, and what embedding and head weigh in the split. */
  readonly layersPerVirtualStage?: number;
  readonly inputWeight?: number;
  readonly outputWeight?: number;
  /** torchtitan: sequences of a data rank in a step before they are cut into micro-batches of the pipeline. */
  readonly localBatch?: number;
  /** DeepSpeed: micro-batches that are added up; elastic batches; embedding and head stand in stages of their own kind. */
  readonly accumulation?: number;
  readonly elastic?: boolean;
  readonly countsEnds?: boolean;
  /** DeepSpeed: experts by AutoEP instead of its own layer; what ZeRO++ and MiCS add to sharding 3. */
  readonly autoExperts?: boolean;
  readonly secondaryShards?: number;
  readonly quantisedGradients?: boolean;
  readonly shardGroups?: boolean;
}

/** A key that a rule reads, of the setup or of its switches. */
export type SetupKey = Exclude<keyof FrameworkSetup, 'switches'> | keyof FrameworkSwitches;
