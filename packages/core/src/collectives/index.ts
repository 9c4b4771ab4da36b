/** @file Collectives: what each way of running one sends, to whom, and how many steps it takes. */
export { algorithms, type CollectiveAlgorithm, timeAlone } from './algorithms.ts';
export { twoTrees } from './flows.ts';
export { type Choice, type ChoiceLink, chooseExchange, type LinkClass, type Protocol, protocols } from './protocols.ts';
export { type ForcedAlgorithm, forcedAlgorithms, runBy } from './run-by.ts';
export {
  type AlgorithmName,
  type CollectiveKind,
  type FlowVisitor,
  type ProtocolName,
  SWITCH,
} from './types.ts';
