/** @file The step program: types, the kernel table, and the passes that only read it. */

export * from './allocations.ts';
export * from './bytes.ts';
export * from './dependencies.ts';
export * from './diff/index.ts';
export * from './expand.ts';
export { canPlant, type Fault, faults, plantFault } from './faults.ts';
export {
  type JsonSchema,
  type ProgramReading,
  programFromJson,
  programJsonSchema,
  programToJson,
} from './json/index.ts';
export type { KernelName, KernelRow, LocalOperand, LocalOperands, OperandRule, Signature } from './kernels/index.ts';
export { kernels } from './kernels/index.ts';
export * from './liveness.ts';
export { type Owners, type Replay, readCount, type Slot, tagOfInstance } from './replay/index.ts';
export { type Peak, peakOf } from './replay/peak.ts';
export { type Turns, turnsOf } from './replay/turns/index.ts';
export * from './rows.ts';
export * from './shapes.ts';
export * from './storage.ts';
export * from './text/index.ts';
export * from './types.ts';
export { verifyProgram } from './verify/index.ts';
export { renderReason, renderWhy, type WhyContext } from './why.ts';
export * from './work.ts';
