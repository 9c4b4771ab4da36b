/** @file Asking the worker. A question that nobody waits for any more is dropped: streams stop at their next part, and a worker
 * that does not come to one soon is replaced.
 */
import { AskError } from './ask-error.ts';
import type { Answer, Arguments, Part, RequestName, StreamArguments, StreamName, Whole } from './requests.ts';
import type { Answered, Asked } from './worker.ts';

/** A worker that answers one kind of questions. */
export interface Client {
  /** Rejects with an AskError for bad input, never settles once {@link Client.drop} was called. */
  ask<Name extends RequestName>(name: Name, ...values: Arguments<Name>): Promise<Answer<Name>>;
  /** The same for what is answered in parts: `hear` is told each. */
  follow<Name extends StreamName>(
    name: Name,
    hear: (part: Part<Name>) => void,
    ...values: StreamArguments<Name>
  ): Promise<Whole<Name>>;
  /** Forgets what was asked and is not answered yet. */
  drop(): void;
}

interface Waiting {
  readonly asked: Asked;
  readonly hear: ((part: never) => void) | undefined;
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

/** Milliseconds that a worker gets to come to the end of what was dropped. A new worker has to load and warm up, which takes
 * longer than most searches. */
const PATIENCE = 400;

/** A client with a worker of its own, started by `start` at the first question. */
export function createClient(start: () => Worker): Client {
  let worker: Worker | undefined;
  let asked = 0;
  const waiting = new Map<number, Waiting>();
  const dropped = new Set<number>();
  const listen = ({ data }: MessageEvent<Answered>): void => {
    if (!('part' in data)) dropped.delete(data.id);
    const entry = waiting.get(data.id);
    if (!entry) return;
    if ('part' in data) {
      entry.hear?.(data.part as never);
      return;
    }
    waiting.delete(data.id);
    if ('value' in data) entry.resolve(data.value as never);
    else if ('issues' in data) entry.reject(new AskError(data.issues));
    else entry.reject(new Error('failure' in data ? data.failure : 'internal: dropped while somebody waits.'));
  };
  const running = (): Worker => {
    if (!worker) {
      worker = start();
      worker.addEventListener('message', listen);
    }
    return worker;
  };
  const post = (entry: (id: number) => Waiting): void => {
    asked += 1;
    const made = entry(asked);
    waiting.set(asked, made);
    running().postMessage(made.asked);
  };
  const replaceIfBusy = (old: Worker, ids: readonly number[]): void => {
    if (worker !== old || !ids.some((id) => dropped.has(id))) return;
    old.terminate();
    worker = undefined;
    dropped.clear();
    for (const entry of waiting.values()) running().postMessage(entry.asked);
  };
  return {
    ask: (name, ...values) =>
      new Promise((resolve, reject) =>
        post((id) => ({ asked: { kind: 'ask', id, name, values }, hear: undefined, resolve, reject })),
      ),
    follow: (name, hear, ...values) =>
      new Promise((resolve, reject) =>
        post((id) => ({ asked: { kind: 'follow', id, name, values }, hear, resolve, reject })),
      ),
    drop: () => {
      if (waiting.size === 0 || !worker) return;
      const old = worker;
      const ids = [...waiting.keys()];
      for (const id of ids) dropped.add(id);
      waiting.clear();
      old.postMessage({ kind: 'drop', ids } satisfies Asked);
      setTimeout(() => replaceIfBusy(old, ids), PATIENCE);
    },
  };
}

/** The worker of the studio. */
export const startWorker = (): Worker => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
