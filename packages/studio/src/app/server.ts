/** @file The local server, when `meshwright serve` opened the page: it can run programs for real. */

/** How to reach it. The token comes with the opened address and is sent with every request. */
export interface Server {
  readonly token: string;
}

const KEPT = 'meshwright-token';

/** The server behind the page; undefined for the static build. The token leaves the address once it is read. */
export function readServer({ search, pathname, hash }: Location): Server | undefined {
  const given = new URLSearchParams(search).get('token');
  if (given !== null) {
    sessionStorage.setItem(KEPT, given);
    history.replaceState(null, '', `${pathname}${hash}`);
  }
  const token = given ?? sessionStorage.getItem(KEPT);
  return token === null ? undefined : { token };
}

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
  | { readonly kind: 'done'; readonly says: string }
  | { readonly kind: 'failed'; readonly says: string };

/** Runs a job on this machine; calls `hear` for every event. Ends early when `signal` is aborted. */
export async function runJob(
  { token }: Server,
  request: { readonly layout: string; readonly steps: number },
  signal: AbortSignal,
  hear: (event: RunEvent) => void,
): Promise<void> {
  const response = await fetch('api/run', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(request),
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
