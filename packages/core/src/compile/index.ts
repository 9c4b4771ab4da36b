/** @file From a job and a layout to a step program, and what its parts say of themselves. */
export { type BlockTemplates, blockTemplates, contextGroupsOf } from './block-templates.ts';
export { planBuckets } from './bucket-plans.ts';
export { compileProgram } from './compile-program.ts';
export {
  type BlockContext,
  backwardOf,
  blockContext,
  expertGridOf,
  microBatches,
  timesMicroBatch,
} from './context.ts';
export { type BlockKinds, blockKinds } from './kinds.ts';
export {
  type ActivationBytes,
  activationsByLaw,
  bytesByLaw,
  frozenPerParameter,
  type LawLine,
  type Piece,
  type StageBytes,
  type StateBytes,
  stateByLaw,
  statePerParameter,
} from './laws/index.ts';
export {
  containers,
  gathersBlock,
  isSharded,
  optimizerTensors,
  reducesEachMicroBatch,
  reductionsBlock,
  sumsOverEnds,
  sumsOverSets,
} from './lower/containers.ts';
export { blocksOfInvocation, type UnitRuns, unitRuns, unitsOf } from './lower/runs.ts';
export { normGroup, sumsNormOver } from './lower/tail.ts';
export { type ChunkOutline, chunksOf, type Outline, outlineOf, type StageOutline } from './outline.ts';
export {
  type BlockCount,
  type BucketPlan,
  endsApart,
  isMirrored,
  type ParameterCounts,
  paddedParts,
  parameterCounts,
  replicasOfBucket,
  sampleBuckets,
  shardsOfBucket,
} from './parameters.ts';
export { type Replicas, replicaGroup, setsGroup, shardGroup } from './replicas.ts';
export { templateOf } from './templates/layers.ts';
export { partsOf } from './templates/split.ts';
