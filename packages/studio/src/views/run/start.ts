/** @file One run on the local server at a time, and what has been heard of it. The page keeps it while other views are open. */
import { type RunEvent, type RunRequest, runJob } from '../../app/run-job.ts';
import type { Server } from '../../app/server.ts';
import type { Ran, Store } from '../../app/store.ts';

/** Starts a run; what is heard of it goes to the store. */
export async function startRun(server: Server, store: Store, request: RunRequest): Promise<void> {
  const controller = new AbortController();
  const { run } = store;
  const change = (next: Partial<Ran>): void => {
    if (run.value) run.value = { ...run.value, ...next };
  };
  run.value = {
    number: (run.value?.number ?? 0) + 1,
    request,
    told: [],
    alone: [],
    bytes: undefined,
    recording: undefined,
    says: 'Running.',
    stop: () => controller.abort(),
  };
  const hear = (event: RunEvent): void => {
    const { told = [], alone = [] } = run.value ?? {};
    if (event.kind === 'step') change({ told: [...told, event] });
    else if (event.kind === 'alone') change({ alone: [...alone, event.loss] });
    else if (event.kind === 'bytes') change({ bytes: event.bytes });
    else if (event.kind === 'recording') change({ recording: event.recording });
    else change({ says: event.says });
  };
  try {
    await runJob(server, request, controller.signal, hear);
  } catch (error) {
    change({ says: controller.signal.aborted ? 'Stopped.' : `The server does not answer: ${String(error)}` });
  } finally {
    change({ stop: undefined });
  }
}
