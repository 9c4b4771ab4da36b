import type { LayoutRequest } from '../../layout/index.ts';
import type { LegalTrial } from '../trials.ts';

/** A rule of thumb as something that the search can be asked. */
export interface Rule {
  readonly rule: string;
  /** The fastest layout obeys. */
  readonly obeys: (optimum: LegalTrial) => boolean;
  /** Kinds that together are all layouts that obey; none where the search cannot be kept to them. */
  readonly kinds: (optimum: LegalTrial) => readonly LayoutRequest[];
  /** The first kind for which something fits, instead of the fastest of all. */
  readonly inOrder?: true;
  /** What of the rule is not in the search, or what else there is to know. */
  readonly note?: (optimum: LegalTrial) => string | undefined;
}
