/** @file Jobs: what is to be trained, on what, before anybody has chosen a layout. */
export { type BatchInput, type BatchResult, batchOf, batchTokens } from './batch.ts';
export { checkPrecision, createJob, type JobInput, jobDefaults, precisionName, validateJob } from './create.ts';
export * from './types.ts';
