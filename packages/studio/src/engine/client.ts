/** @file Asking the worker. A question that nobody waits for any more is dropped by starting a new worker. */
import { AskError } from './ask-error.ts';
import type { Answer, Arguments, RequestName } from './requests.ts';
import type { Answered } from './worker.ts';

/** A worker that answers one kind of questions. */
export interface Client {
  /** Rejects with an AskError for bad input, never settles once {@link Client.drop} was called. */
  ask<Name extends RequestName>(name: Name, ...values: Arguments<Name>): Promise<Answer<Name>>;
  /** Forgets what was asked and is not answered yet. */
  drop(): void;
}

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

/** A client with a worker of its own, started by `start` at the first question. */
export function createClient(start: () => Worker): Client {
  let worker: Worker | undefined;
  let asked = 0;
  const waiting = new Map<number, Waiting>();
  const listen = ({ data }: MessageEvent<Answered>): void => {
    const entry = waiting.get(data.id);
    if (!entry) return;
    waiting.delete(data.id);
    if ('value' in data) entry.resolve(data.value as never);
    else entry.reject('issues' in data ? new AskError(data.issues) : new Error(data.failure));
  };
  return {
    ask: (name, ...values) =>
      new Promise((resolve, reject) => {
        if (!worker) {
          worker = start();
          worker.addEventListener('message', listen);
        }
        asked += 1;
        waiting.set(asked, { resolve: resolve as (value: never) => void, reject });
        worker.postMessage({ id: asked, name, values });
      }),
    drop: () => {
      if (waiting.size === 0) return;
      waiting.clear();
      worker?.terminate();
      worker = undefined;
    },
  };
}

/** The worker of the studio. */
export const startWorker = (): Worker => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
