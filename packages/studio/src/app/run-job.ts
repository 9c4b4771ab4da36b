/** @file A run on the local server, event by event. */
import type { LessonKey } from '@meshwright/figures';
import type { Written } from '../engine/replay.ts';
import type { Server } from './server.ts';

/** One event of a run. */
export type RunEvent =
  | {
      readonly kind: 'step';
      readonly step: number;
      readonly loss: number;
      readonly seconds: number;
      readonly tokens: number;
    }
  | { readonly kind: 'alone'; readonly step: number; readonly loss: number }
  | {
      readonly kind: 'bytes';
      readonly bytes: Readonly<Record<string, { readonly predicted: number; readonly moved: number }>>;
    }
  /** The last step of the eight ranks, for the replay. */
  | { readonly kind: 'recording'; readonly recording: Written }
  | { readonly kind: 'done'; readonly says: string }
  | { readonly kind: 'failed'; readonly says: string };

/** What is run: the toy under a layout of the lesson. */
export interface RunRequest {
  readonly lesson: LessonKey;
  readonly sharding: 1 | 2 | 3;
  readonly steps: number;
}

/** Runs a job on this machine; calls `hear` for every event. Ends early when `signal` is aborted. */
export async function runJob(
  { token, page }: Server,
  request: RunRequest,
  signal: AbortSignal,
  hear: (event: RunEvent) => void,
): Promise<void> {
  const response = await fetch('api/run', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ ...request, page }),
    signal,
  });
  if (!response.ok || !response.body) {
    hear({ kind: 'failed', says: (await response.text()) || `The server answered ${response.status}.` });
    return;
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') hear(JSON.parse(line) as RunEvent);
  }
}
