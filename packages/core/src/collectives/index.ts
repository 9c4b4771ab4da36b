/** @file Collectives: what each way of running one sends and how many steps it takes. */
export { algorithms, type CollectiveAlgorithm, chooseAlgorithm } from './algorithms.ts';
export type { AlgorithmName, CollectiveKind } from './types.ts';
