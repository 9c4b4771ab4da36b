import type { Prices } from '../../cost/index.ts';
import type { Issue } from '../../errors/index.ts';
import type { Job } from '../../job/index.ts';
import type { Layout } from '../../layout/index.ts';
import type { ShownStage, ShownTraffic } from '../show-types.ts';

/** What warnings are judged by. */
export interface Judged {
  readonly job: Job;
  readonly layout: Layout;
  readonly prices: Prices;
  readonly seconds: number;
  /** Of the step: waiting for other stages, and for the data axis. */
  readonly shares: { readonly bubble: number; readonly data: number };
  readonly stages: readonly ShownStage[];
  readonly traffic: readonly ShownTraffic[];
  /** One layer is larger than a device: says so. */
  readonly layer: Issue | undefined;
  /** Bytes of the largest unit of sharding 3, gathered. */
  readonly unitBytes: number;
}
