/** @file The local server of the studio: its files, and one real run at a time. Loopback only. Nothing of a request names a
 * file, a program or a command; what it can ask for is in a closed list.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type LessonKey, lessons } from '@meshwright/figures';
import { type Refusal, refuseForeign, refuseStranger } from './guard.ts';
import type { SiteFile } from './site.ts';
import { createTurns, type Turns } from './turns.ts';

/** What a run is asked: a layout of the lesson, what its data ranks share out where they do, and optimizer steps. */
export interface RunAsked {
  readonly lesson: LessonKey;
  readonly sharding: 1 | 2 | 3;
  readonly steps: number;
  /** Names the page that asks. Its next run ends this one. */
  readonly page?: string;
}

/** Runs something and tells what happens, one JSON value a call, until it is done or `signal` is aborted. */
export type Runner = (asked: RunAsked, signal: AbortSignal, tell: (event: object) => void) => Promise<void>;

/** What the server serves. */
export interface StudioServer {
  readonly site: ReadonlyMap<string, SiteFile>;
  readonly token: string;
  readonly run: Runner;
}

const LARGEST_BODY = 16_384;
const MOST_STEPS = 200;
const HEARTBEAT_MS = 5_000;

/** Headers of every answer. With isolation the page may use shared memory. */
const headers: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** A server that is not listening yet. Slow and idle connections are closed by Node's own limits, set here. */
export function createStudioServer(studio: StudioServer): Server {
  const turns = createTurns();
  const server = createServer((request, response) => {
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    const refusal = refuseForeign(request.headers, port);
    if (refusal) refuse(response, refusal);
    else void answer(studio, turns, request, response);
  });
  server.headersTimeout = 10_000;
  server.requestTimeout = 15_000;
  server.keepAliveTimeout = 5_000;
  server.maxHeadersCount = 100;
  server.maxConnections = 512;
  return server;
}

async function answer(
  studio: StudioServer,
  turns: Turns,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = pathOf(request.url ?? '/');
  if (path === undefined) return refuse(response, { status: 400, says: 'The address cannot be read.' });
  if (!path.startsWith('/api/')) return sendFile(studio.site, path, request, response);
  const stranger = refuseStranger(request.headers, studio.token);
  if (stranger) return refuse(response, stranger);
  if (path !== '/api/run') return refuse(response, { status: 404, says: 'There is no such thing here.' });
  if (request.method !== 'POST') return refuse(response, { status: 405, says: 'Use POST.' });
  const body = await bodyOf(request);
  if (body === undefined) return refuse(response, { status: 413, says: 'The request is too long, or was cut off.' });
  const asked = askedOf(body);
  if (!asked)
    return refuse(response, {
      status: 400,
      says: `A run takes {"lesson": ${lessons.map(({ key }) => `"${key}"`).join(' | ')}, "steps": 1 to ${MOST_STEPS}}.`,
    });
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const ran = await turns.take(asked.page, gone, () => stream(studio.run, asked, gone.signal, response));
  if (!ran) refuse(response, { status: 409, says: 'The run of another page is going on. Stop it there, or wait.' });
}

/** The path of an address without its query; undefined when it is malformed. */
function pathOf(url: string): string | undefined {
  try {
    return decodeURIComponent(url.split(/[?#]/, 1)[0] ?? '/');
  } catch {
    return undefined;
  }
}

function sendFile(site: StudioServer['site'], path: string, request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(response, { status: 405, says: 'Use GET.' });
  const file = site.get(path === '/' ? '/index.html' : path);
  if (!file) return refuse(response, { status: 404, says: 'There is no such file.' });
  response.writeHead(200, {
    'content-type': file.type,
    'content-length': file.body.length,
    'cache-control': file.lasting ? 'max-age=31536000, immutable' : 'no-cache',
  });
  response.end(request.method === 'HEAD' ? undefined : file.body);
}

function refuse(response: ServerResponse, { status, says }: Refusal): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
  response.end(`${says}\n`);
}

/** The body of a request; undefined when it is too long or does not come to its end. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of request) {
      size += (part as Buffer).length;
      if (size > LARGEST_BODY) return undefined;
      parts.push(part as Buffer);
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(parts).toString('utf8');
}

function askedOf(body: string): RunAsked | undefined {
  try {
    const { lesson, sharding, steps, page } = JSON.parse(body) as Partial<RunAsked>;
    const known = lessons.find(({ key }) => key === lesson);
    if (!known || typeof steps !== 'number' || !Number.isInteger(steps) || steps < 1 || steps > MOST_STEPS)
      return undefined;
    return {
      lesson: known.key,
      sharding: sharding === 1 || sharding === 2 ? sharding : 3,
      steps,
      ...(typeof page === 'string' && { page: page.slice(0, 40) }),
    };
  } catch {
    return undefined;
  }
}

/** Events of a run, one a line. Whoever goes away ends the run; a reader that is slow is waited for by nobody. */
async function stream(run: Runner, asked: RunAsked, signal: AbortSignal, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' });
  const beat = setInterval(() => response.write('\n'), HEARTBEAT_MS);
  try {
    await run(asked, signal, (event) => void response.write(`${JSON.stringify(event)}\n`));
  } catch (error) {
    const says = error instanceof Error ? error.message : String(error);
    response.write(`${JSON.stringify({ kind: 'failed', says })}\n`);
  } finally {
    clearInterval(beat);
    response.end();
  }
}
