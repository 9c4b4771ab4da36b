/** Where the pitfalls of the field begin. */
export interface Thresholds {
  /** Largest share of a step that stages may wait for each other. */
  readonly bubbleShare: number;
  /** The same for recipes of 2026. */
  readonly lowBubbleShare: number;
  /** Fewest micro-batches for each stage. */
  readonly microBatchesPerStage: number;
  /** Largest share of a step that the data axis may be waited for. */
  readonly dataShare: number;
  /** Most tensor ranks that exchange over PCIe. */
  readonly tensorRanksOnPcie: number;
  /** Memory of the emptiest stage over that of the fullest, at least. */
  readonly stageBalance: number;
  /** Share of the time of exchanges above which latency rules, and not bytes. */
  readonly latencyShare: number;
  /** Exchanges that take less of a step than this are not worth a warning. */
  readonly relevantShare: number;
  /** Largest share of a device's memory for weights that are gathered for use. */
  readonly gatheredShare: number;
  /** Tokens per second and GPU over the best of smaller clusters, below which scaling has passed its knee. */
  readonly kneeEfficiency: number;
}

/** Every warning, rule and recipe that speaks of one of these numbers reads it here. */
export const thresholds: Thresholds = Object.freeze({
  bubbleShare: 0.1,
  lowBubbleShare: 0.05,
  microBatchesPerStage: 4,
  dataShare: 0.1,
  tensorRanksOnPcie: 2,
  stageBalance: 0.6,
  latencyShare: 0.5,
  relevantShare: 0.01,
  gatheredShare: 0.2,
  kneeEfficiency: 0.9,
});

/** Fewest micro-batches that keep a pipeline of so many stages busy. */
export const enoughMicroBatches = (stages: number): number => thresholds.microBatchesPerStage * stages;
