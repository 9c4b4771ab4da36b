/** @file Kernels and exchanges of each class of ranks, and who slows whom down: a kernel while an exchange of its rank runs,
 * an exchange while a kernel of one of its ranks does. Scalars (the control lane) slow nobody down.
 */

import { COMPUTE_LANE, CONTROL_LANE, HOST_QUEUE } from '../lanes.ts';
import { listOf, type StepGraph, visitMembers } from '../step-graph.ts';

/** Seconds beside each other over seconds alone; 1 and 1: no slow-down. */
export interface SlowDown {
  readonly compute: number;
  readonly exchange: number;
}

/** What runs on the lanes of all classes, by slot. */
export class SlowingLanes {
  readonly #graph: StepGraph;
  readonly #slowDown: SlowDown;
  readonly #isOn: boolean;
  readonly #exchanges: number[][];
  /** By class: the slot of its kernel, -1 for none. */
  readonly #kernel: Int32Array;
  readonly #stale: number[] = [];
  readonly #isStale: Uint8Array;
  /** By slot: the classes that it runs on. */
  readonly #classes: number[][] = [];

  constructor(graph: StepGraph, slowDown: SlowDown) {
    this.#graph = graph;
    this.#slowDown = slowDown;
    this.#isOn = slowDown.compute !== 1 || slowDown.exchange !== 1;
    this.#exchanges = graph.classes.map(() => []);
    this.#kernel = new Int32Array(graph.classes.length).fill(-1);
    this.#isStale = new Uint8Array(graph.classes.length);
  }

  begin(slot: number, node: number, crossesLinks: boolean): void {
    if (!this.#isOn) return;
    const lane = this.#graph.lane[node] as number;
    this.#classes[slot] ??= [];
    const classes = this.#classes[slot];
    classes.length = 0;
    if (lane === COMPUTE_LANE) {
      const index = listOf(this.#graph, node);
      this.#kernel[index] = slot;
      classes.push(index);
      this.#touch(index);
    } else if (crossesLinks && lane !== CONTROL_LANE && lane !== HOST_QUEUE) {
      visitMembers(this.#graph, node, (member) => {
        const index = listOf(this.#graph, member);
        (this.#exchanges[index] as number[]).push(slot);
        classes.push(index);
        this.#touch(index);
      });
    }
  }

  end(slot: number, node: number): void {
    if (!this.#isOn) return;
    const isKernel = this.#graph.lane[node] === COMPUTE_LANE;
    for (const index of this.#classes[slot] as number[]) {
      if (isKernel) this.#kernel[index] = -1;
      else {
        const row = this.#exchanges[index] as number[];
        row.splice(row.indexOf(slot), 1);
      }
      this.#touch(index);
    }
  }

  /** Tells the rates of kernels and the limits of exchanges of all classes on which something began or ended. */
  settle(setRate: (slot: number, rate: number) => void, limit: (slot: number, most: number) => void): void {
    const { compute, exchange } = this.#slowDown;
    for (const index of this.#stale) {
      this.#isStale[index] = 0;
      const kernel = this.#kernel[index] as number;
      const row = this.#exchanges[index] as number[];
      if (kernel >= 0) setRate(kernel, row.length > 0 ? 1 / compute : 1);
      for (const slot of row) limit(slot, this.#meetsKernel(slot) ? 1 / exchange : 1);
    }
    this.#stale.length = 0;
  }

  #meetsKernel(slot: number): boolean {
    for (const index of this.#classes[slot] as number[]) if ((this.#kernel[index] as number) >= 0) return true;
    return false;
  }

  #touch(index: number): void {
    if (this.#isStale[index] === 1) return;
    this.#isStale[index] = 1;
    this.#stale.push(index);
  }
}
