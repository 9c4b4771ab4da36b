/** @file What the simulator is asked and what it answers. */
import type { ExpandedList, ExpandedOperation, Program, RankList } from '../program/index.ts';
import type { StepGraph } from './graph.ts';

/** Seconds of operations: real prices, or fixed numbers in tests. */
export interface OperationPrices {
  /** Seconds that an operation takes once it has started. Of an exchange between lists the longest answer counts.
   * Never asked for marks and lifetimes, which take no time. */
  duration(expanded: ExpandedOperation, list: RankList): number;
  /** Seconds of the host to issue a compute operation. */
  readonly launchCompute: number;
  /** Seconds of the host to issue a collective, a send or a receive. */
  readonly launchExchange: number;
}

/** The operations of one list in time. All ranks of a list run alike. */
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
  /** In the order of the program's lists. */
  readonly lists: readonly SimulatedList[];
  /** Index of the list that ends last; the first of several. */
  readonly last: number;
  /** What waits for what. Its operations are numbered through all lists, and so are the two arrays below. */
  readonly graph: StepGraph;
  readonly start: Float64Array;
  readonly end: Float64Array;
}
