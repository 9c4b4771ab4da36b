/** @file What ends a run early. An `AbortSignal` is one; the type stands here, so that declarations need no types of Node. */

export interface StopSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}
