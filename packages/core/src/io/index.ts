/** @file Reading what people write: job files, model configurations, layout texts. Every issue knows its place. */
export { jobSchema } from './job-schema.ts';
export { type LayoutReading, parseLayoutString, type TextOrigin } from './layout-request.ts';
export { type JobReading, readJob } from './read-job.ts';
export { type LoadFile, type ReadOptions, readModelConfig } from './read-model.ts';
export { type PlainReading, readPlain } from './read-plain.ts';
