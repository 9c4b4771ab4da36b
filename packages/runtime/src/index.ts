/** @file Executes step programs on real tensors: every rank walks its list, exchanges move through shared memory, bytes,
 * memory and time are measured. No strategy lives here: what to cut, exchange and when is all in the program.
 */
export { checkpointPath, completeSteps } from './checkpoint/folder.ts';
export { ADAPTER_FOLDER, exportWeights, importWeights, type Weights } from './checkpoint/hugging-face.ts';
export {
  loadCheckpoint,
  readCheckpoint,
  readManifestOf,
  type SavedTensor,
  type TrainingState,
} from './checkpoint/load.ts';
export type { DataMark, Manifest } from './checkpoint/manifest.ts';
export type { Drill } from './interpreter/drill.ts';
export type { RunFailure } from './interpreter/rank.ts';
export { type KernelEngine, kernelEngines } from './kernels/engine.ts';
export { type Found, findOpenBlas, type OpenBlas } from './kernels/openblas/library.ts';
export { type ExchangeMeasurement, type ExchangeTime, measureExchanges } from './measure/exchanges.ts';
export { type KernelMeasurement, type KernelTime, measureKernels } from './measure/kernels.ts';
export {
  type BytesDifference,
  bytesByAxis,
  compareBytes,
  predictedByAxis,
  predictedOfRun,
} from './parity/moved-bytes.ts';
export {
  boundsOf,
  compareRuns,
  defaultBounds,
  type ParityBounds,
  type ParityFinding,
  type ParityReport,
} from './parity/parity.ts';
export { type SampleOptions, sampleTokens } from './sample/sample.ts';
export type { SupervisedOptions, SupervisedResult } from './supervise/messages.ts';
export {
  type ProcessDeath,
  type Supervised,
  type SupervisionListener,
  superviseProgram,
} from './supervise/supervise.ts';
export { builtinCorpus, type Corpus, type CorpusFormat, readCorpus } from './tokens/corpus.ts';
export { BYTE_VOCABULARY, byteTokenizer, readTokenizer, type Tokenizer } from './tokens/tokenizer.ts';
export type { GlobalTensor, TensorSet } from './train/assemble.ts';
export { checkRunnable, checkSize } from './train/check-runnable.ts';
export { type CheckpointOptions, markOf } from './train/checkpoints.ts';
export { createRankPool, type RankPool } from './train/rank-pool.ts';
export { type CosineRate, cosineRate, type LearningRate, rateAt } from './train/rate.ts';
export type { StepReport } from './train/step-report.ts';
export type { StopSignal } from './train/stop-signal.ts';
export {
  type MovedBytes,
  type RunResult,
  type TrackedMemory,
  type TrainOptions,
  trainProgram,
} from './train/train-program.ts';
