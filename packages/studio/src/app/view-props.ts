import type { Server } from './server.ts';
import type { Store } from './store.ts';

/** What every view is given. */
export interface ViewProps {
  readonly store: Store;
  readonly server: Server | undefined;
}
