/** @file The worker: planner and simulator, off the main thread. Answers in the order of asking. */
import { InputError, type Issue } from '@meshwright/core/errors';
import { createRequests, createStreams, type RequestName, type StreamName } from './requests.ts';

/** One question, answered at once or in parts; or the numbers of questions that nobody waits for any more. */
export type Asked =
  | { readonly kind: 'ask'; readonly id: number; readonly name: RequestName; readonly values: readonly unknown[] }
  | { readonly kind: 'follow'; readonly id: number; readonly name: StreamName; readonly values: readonly unknown[] }
  | { readonly kind: 'drop'; readonly ids: readonly number[] };

/** One answer: a part of it, a value, the issues of bad input, what went wrong inside, or that it was dropped. */
export type Answered =
  | { readonly id: number; readonly part: unknown }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly issues: readonly Issue[] }
  | { readonly id: number; readonly failure: string }
  | { readonly id: number; readonly dropped: true };

const requests = createRequests();
const streams = createStreams();
/** Questions that are not answered yet and that somebody waits for. */
const wanted = new Set<number>();

async function answer(asked: Exclude<Asked, { readonly kind: 'drop' }>): Promise<Answered> {
  const { id, values } = asked;
  try {
    if (asked.kind === 'follow') return await follow(id, asked.name, values);
    const run = requests[asked.name] as (...given: readonly unknown[]) => unknown;
    return { id, value: await run(...values) };
  } catch (error) {
    if (error instanceof InputError) return { id, issues: error.issues };
    return { id, failure: error instanceof Error ? error.message : String(error) };
  }
}

/** Tells each part as it comes, and hears between parts whether somebody still listens. */
async function follow(id: number, name: StreamName, values: readonly unknown[]): Promise<Answered> {
  const run = streams[name] as (...given: readonly unknown[]) => AsyncGenerator<unknown, unknown>;
  const parts = run(...values);
  for (;;) {
    await otherMessages();
    if (!wanted.has(id)) return { id, dropped: true };
    const { done, value } = await parts.next();
    if (done) return { id, value };
    self.postMessage({ id, part: value } satisfies Answered);
  }
}

/** Resolves once the messages that have already come were read. */
const otherMessages = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });

self.addEventListener('message', ({ data }: MessageEvent<Asked>) => {
  if (data.kind === 'drop') {
    for (const id of data.ids) wanted.delete(id);
    return;
  }
  wanted.add(data.id);
  void answer(data).then((answered) => {
    wanted.delete(data.id);
    self.postMessage(answered);
  });
});
