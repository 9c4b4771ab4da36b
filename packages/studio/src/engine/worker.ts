/** @file The worker: planner and simulator, off the main thread. Answers in the order of asking. */
import { InputError, type Issue } from '@meshwright/core/errors';
import { type RequestName, requests } from './requests.ts';

/** One question. */
export interface Asked {
  readonly id: number;
  readonly name: RequestName;
  readonly values: readonly unknown[];
}

/** One answer: a value, the issues of bad input, or what went wrong inside. */
export type Answered =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly issues: readonly Issue[] }
  | { readonly id: number; readonly failure: string };

async function answer({ id, name, values }: Asked): Promise<Answered> {
  try {
    const run = requests[name] as (...given: readonly unknown[]) => unknown;
    return { id, value: await run(...values) };
  } catch (error) {
    if (error instanceof InputError) return { id, issues: error.issues };
    return { id, failure: error instanceof Error ? error.message : String(error) };
  }
}

self.addEventListener('message', ({ data }: MessageEvent<Asked>) => {
  void answer(data).then((answered) => self.postMessage(answered));
});
