/** @file Who may ask: pages that this server opened itself, on this machine, with its token. Names of hosts are checked so
 * that another site cannot reach it through a name that points here (DNS rebinding); origins, so that another site's page
 * cannot ask it; the token, so that another user or program of this machine cannot run anything.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Why a request is refused, with its status. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 413;
  readonly says: string;
}

/** Names under which a loopback server is reached. */
const names: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/** Refuses hosts and origins that are not this server; undefined for what may pass. */
export function refuseForeign(
  { host, origin, 'sec-fetch-site': site }: IncomingHttpHeaders,
  port: number,
): Refusal | undefined {
  const own = names.map((name) => `${name}:${port}`);
  if (host === undefined || !own.includes(host.toLowerCase())) {
    return { status: 403, says: `This server answers to ${own[0]} only.` };
  }
  const sameOrigin = origin === undefined || own.some((each) => origin.toLowerCase() === `http://${each}`);
  if (!sameOrigin || site === 'cross-site' || site === 'same-site') {
    return { status: 403, says: 'Pages of other sites may not ask this server.' };
  }
  return undefined;
}

/** Refuses requests without the token. */
export function refuseStranger({ authorization = '' }: IncomingHttpHeaders, token: string): Refusal | undefined {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  if (timingSafeEqual(digest(authorization), digest(`Bearer ${token}`))) return undefined;
  return { status: 401, says: 'The token is missing or wrong. Open the address that the command printed.' };
}
