export type { AlgorithmName, CollectiveKind } from './types.ts';
