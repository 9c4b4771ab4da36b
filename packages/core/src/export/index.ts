/** @file What leaves the house as data: traces of a step for viewers and simulators of others. Functions from a step to
 * bytes or text, in pieces; nothing here opens a file.
 */
export { type ChakraTraces, chakraTraces } from './chakra.ts';
export { chromeTrace } from './chrome.ts';
export { encodeTexts, joinChunks } from './chunks.ts';
export { type Counter, countersOf } from './counters.ts';
export { memorySnapshot } from './memory-snapshot.ts';
export { perfettoTrace } from './perfetto.ts';
export { type TracedRank, type TracedStep, tracedRanks } from './traced.ts';
