/** Why a row cannot be priced: a closed list, each with what would be needed. */
export const skipReasons = {
  excluded: 'the list of exclusions names it',
  'no-time': 'neither step time nor throughput is given',
  unreadable: 'a number of the row cannot be read',
  'gpu-unknown': 'the device has no price model',
  'gpus-not-whole-nodes': 'the devices do not fill whole nodes',
  'dimensions-missing': 'dimensions of the model are not given',
  'dimensions-illegal': 'the dimensions do not make a model that can be priced',
  'batch-missing': 'global batch, micro-batch or sequence length is not given',
  'layout-missing': 'a degree of the layout is not given',
  'chunks-unknown': 'chunks per stage are not given and decide the bubble',
  'recompute-unknown': 'the kind of recomputation is not one that is priced',
  'sharding-not-priced': 'shards over a part of the data ranks',
  'context-not-priced': 'a context axis that does not cut sequences into equal halves',
  'attention-not-priced': 'attention without a price model, or latent attention whose sizes are not given',
  'precision-not-priced': 'a number format without a price model',
  'workload-not-priced': 'another workload than training all weights',
  'layout-illegal': 'the layout breaks a rule of this tool',
} as const;

export type SkipReason = keyof typeof skipReasons;

/** A skipped row's reason, with what was found. */
export interface Skipped {
  readonly reason: SkipReason;
  readonly detail: string;
}

/** What a step of pricing gives: a value, or why there is none. */
export type Outcome<Value> =
  | { readonly value: Value; readonly skipped?: undefined }
  | { readonly value?: undefined; readonly skipped: Skipped };

export const skip = (reason: SkipReason, detail: string): { readonly skipped: Skipped } => ({
  skipped: { reason, detail },
});
