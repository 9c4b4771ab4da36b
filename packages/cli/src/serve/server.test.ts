import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStudioServer, type RunAsked } from './server.ts';
import type { SiteFile } from './site.ts';

const token = 'a-token-of-this-test';
const page: SiteFile = { body: Buffer.from('<p>studio</p>'), type: 'text/html; charset=utf-8', lasting: false };
const site = new Map([['/index.html', page]]);

/** Tells as many steps as are asked for; with 200 it goes on until it is stopped. */
async function count({ steps }: RunAsked, signal: AbortSignal, tell: (event: object) => void): Promise<void> {
  for (let step = 1; step <= steps; step++) tell({ kind: 'step', step });
  if (steps === 200) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
}

const server = createStudioServer({ site, token, run: count });
let port = 0;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

interface Asked {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Got {
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingMessage['headers'];
}

/** Asks with the bytes as given: `fetch` would clean paths and forbid headers. */
function ask({ path = '/', method = 'GET', headers = {}, body }: Asked = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const asked = request(
      { host: '127.0.0.1', port, path, method, headers: { host: `127.0.0.1:${port}`, ...headers } },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }));
        response.on('error', reject);
      },
    );
    asked.on('error', reject);
    asked.end(body);
  });
}

const run = (
  body: string,
  headers: Readonly<Record<string, string>> = { authorization: `Bearer ${token}` },
): Promise<Got> => ask({ path: '/api/run', method: 'POST', headers, body });

describe('the server of the studio', () => {
  it('serves its page with headers that keep others out', async () => {
    const { status, text, headers } = await ask();
    expect([status, text]).toEqual([200, '<p>studio</p>']);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['cross-origin-embedder-policy']).toBe('require-corp');
    expect(headers['access-control-allow-origin']).toBeUndefined();
  });

  it('refuses hosts, origins and sites that are not its own', async () => {
    for (const headers of [
      { host: 'evil.example' },
      { host: `evil.example:${port}` },
      { host: `127.0.0.1:${port + 1}` },
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { origin: `https://127.0.0.1:${port}` },
      { 'sec-fetch-site': 'cross-site' },
    ]) {
      expect((await ask({ headers })).status, JSON.stringify(headers)).toBe(403);
    }
    for (const headers of [
      { host: `localhost:${port}` },
      { origin: `http://127.0.0.1:${port}` },
      { 'sec-fetch-site': 'same-origin' },
    ]) {
      expect((await ask({ headers })).status, JSON.stringify(headers)).toBe(200);
    }
  });

  it('runs nothing without its token', async () => {
    const body = JSON.stringify({ lesson: 'data', steps: 2 });
    for (const headers of [
      {},
      { authorization: 'Bearer ' },
      { authorization: `Bearer ${token}x` },
      { authorization: token },
    ]) {
      expect((await run(body, headers)).status).toBe(401);
    }
    const { status, text } = await run(body);
    expect(status).toBe(200);
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).step),
    ).toEqual([1, 2]);
  });

  it('knows no path but its own', async () => {
    for (const path of [
      '/../package.json',
      '/%2e%2e/%2e%2e/etc/passwd',
      '/..%2f..%2fetc/passwd',
      '//etc/passwd',
      '/index.html/..',
      '/assets/../../x',
      '/C:/x',
      '/\\..\\x',
      '/index.html%00',
    ]) {
      const { status, text } = await ask({ path });
      expect(status, path).toBe(404);
      expect(text).not.toContain('root:');
    }
    expect((await ask({ path: '/%' })).status).toBe(400);
    expect((await ask({ method: 'PUT' })).status).toBe(405);
    expect((await ask({ path: '/api/other', headers: { authorization: `Bearer ${token}` } })).status).toBe(404);
  });

  it('refuses requests that are no runs, and one that is too long', async () => {
    for (const body of [
      '',
      '{',
      '[]',
      'null',
      '{"lesson":1,"steps":1}',
      '{"lesson":"data","steps":0}',
      '{"lesson":"data","steps":1e9}',
    ]) {
      expect((await run(body)).status, body).toBe(400);
    }
    expect((await run('x'.repeat(100_000)).catch(() => ({ status: 413 }))).status).toBe(413);
  });

  it('runs one at a time, and ends a run when its reader goes away', async () => {
    const long = request({
      host: '127.0.0.1',
      port,
      path: '/api/run',
      method: 'POST',
      headers: { host: `127.0.0.1:${port}`, authorization: `Bearer ${token}` },
    });
    const answered = once(long, 'response');
    long.end(JSON.stringify({ lesson: 'data', steps: 200 }));
    const [response] = (await answered) as [IncomingMessage];
    await once(response, 'data');
    expect((await run('{"lesson":"data","steps":1}')).status).toBe(409);
    long.destroy();
    for (;;) if ((await run('{"lesson":"data","steps":1}')).status === 200) break;
  });

  it('ends the run of a page when that page asks for the next, which starts behind it', async () => {
    const asked = (steps: number, page: string): string => JSON.stringify({ lesson: 'data', steps, page });
    const first = run(asked(200, 'one'));
    // The requests may overtake each other; whichever is first is ended by the other.
    const second = run(asked(200, 'one'));
    await Promise.race([first, second]);
    expect((await run(asked(1, 'two'))).status).toBe(409);
    expect((await run(asked(1, 'one'))).text).toBe('{"kind":"step","step":1}\n');
    expect((await Promise.all([first, second])).map(({ status }) => status)).toEqual([200, 200]);
  });

  it('answers beside clients that never finish what they send', async () => {
    const slow = Array.from({ length: 50 }, () => connect(port, '127.0.0.1'));
    await Promise.all(slow.map((socket) => once(socket, 'connect')));
    for (const socket of slow) {
      socket.on('error', () => undefined);
      socket.write(`POST /api/run HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Le`);
    }
    expect((await ask()).status).toBe(200);
    for (const socket of slow) socket.destroy();
    expect((await ask()).status).toBe(200);
  });

  it('answers 10,000 requests, good and bad', async () => {
    const statuses = new Map<number, number>();
    const asks: readonly Asked[] = [
      {},
      { headers: { host: 'evil.example' } },
      { path: '/../x' },
      { path: '/api/run', method: 'POST' },
    ];
    const worker = async (from: number): Promise<void> => {
      for (let index = from; index < 10_000; index += 20) {
        const { status } = await ask(asks[index % asks.length]);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, from) => worker(from)));
    expect(Object.fromEntries(statuses)).toEqual({ 200: 2500, 401: 2500, 403: 2500, 404: 2500 });
    expect((await ask()).text).toBe('<p>studio</p>');
  });
});
