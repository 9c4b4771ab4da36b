/** @file What the simulator is asked and what it answers. */
import type { ExpandedList, ExpandedOperation, Program, RankList } from '../program/index.ts';
import type { StepGraph } from './step-graph.ts';

/** Seconds of operations: real prices, or fixed numbers in tests. */
export interface OperationPrices {
  /** Seconds that an operation takes once it has started. Of an exchange between lists the longest answer counts.
   * Never asked for marks and lifetimes, which take no time. `index` is that of the class of ranks. */
  duration(expanded: ExpandedOperation, list: RankList, index?: number): number;
  /** Durations follow from the operation and the shapes of its operands alone, in any list: one answer serves all alike. */
  readonly byShape?: true;
  /** Seconds of the host to issue an operation, where kernels differ; without it those of its kind below. */
  readonly launch?: (expanded: ExpandedOperation) => number;
  /** Seconds of the host to issue a compute operation of one launch. */
  readonly launchCompute: number;
  /** Seconds of the host to issue a collective, a send or a receive. */
  readonly launchExchange: number;
}

/** The operations of one class of ranks in time. */
export interface SimulatedList {
  readonly expanded: ExpandedList;
  /** Seconds since the start of the period, by index of operation. */
  readonly start: Float64Array;
  /** Seconds; an operation of no duration ends as it starts. */
  readonly end: Float64Array;
}

/** One period of a program in time. */
export interface SimulatedStep {
  readonly program: Program;
  /** The last end of all operations. */
  readonly seconds: number;
  /** By class of ranks: where nothing disturbs any, the program's lists in their order. */
  readonly lists: readonly SimulatedList[];
  /** Index of the class that ends last; the first of several. */
  readonly last: number;
  /** What waits for what. Its operations are numbered through all lists, and so are the two arrays below. */
  readonly graph: StepGraph;
  readonly start: Float64Array;
  readonly end: Float64Array;
}
