/** @file The library entry of `meshwright`: what a program needs to plan, show, compile, price, simulate and draw, and the
 * command as a value. Everything else is in the subpaths of `@meshwright/core`.
 */

/** Clusters and models by name, by numbers, or from a Hugging Face configuration. */
export { type ClusterSpec, clusterFromRequest, createCluster } from '@meshwright/core/cluster';
/** From a job and a layout to its step program. */
export { compileProgram } from '@meshwright/core/compile';
export { createPrices, type Prices } from '@meshwright/core/cost';
/** What is wrong, with a stable code: the one thing that is thrown at input. */
export { InputError, type Issue, renderIssue } from '@meshwright/core/errors';
/** A step for the viewers and simulators of others, in pieces. */
export {
  chakraTraces,
  chromeTrace,
  joinChunks,
  memorySnapshot,
  perfettoTrace,
  type TracedStep,
  tracedRanks,
} from '@meshwright/core/export';
/** Job files and layout texts. */
export { type JobReading, parseLayoutString, readJob, readModelConfig } from '@meshwright/core/io';
export { createJob, type Job, type JobInput } from '@meshwright/core/job';
export { completeLayout, formatLayout, type Layout, type LayoutRequest } from '@meshwright/core/layout';
/** What each rank holds at its peak. */
export { memoryOf, type ProgramMemory } from '@meshwright/core/memory';
export { countParameters, flopsPerToken, type ModelSpec, modelFromPreset } from '@meshwright/core/model';
/** The best layouts, or one in full. */
export { type Planned, planJob, priceOptionsOf, type Shown, showLayout, splitCosts } from '@meshwright/core/plan';
/** Step programs: text, JSON, laws, differences, bytes. */
export {
  bytesSent,
  diffPrograms,
  type Program,
  parseProgram,
  printProgram,
  programFromJson,
  programToJson,
  verifyProgram,
} from '@meshwright/core/program';
/** Programs in time. */
export { partsOfStep, pricesOf, type SimulatedStep, simulateProgram, timelineOf } from '@meshwright/core/sim';
/** Programs on real tensors: what they compute, and the bytes that they really move. */
export {
  bytesByAxis,
  compareBytes,
  compareRuns,
  type RunResult,
  type TrainOptions,
  trainProgram,
} from '@meshwright/runtime';
export { createCommand, packageVersion } from './command.ts';
/** Figures as SVG text. */
export { drawExchanges, drawTimeline } from './commands/figure-drawings.ts';
/** This machine as a cluster. */
export { type MachineSettings, measureMachine } from './commands/measure-machine.ts';
export { type ExitCode, exitCodes, type Host, type Session, type Stream } from './host.ts';
export { runCommand } from './run-command.ts';
