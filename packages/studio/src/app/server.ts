/** @file The local server, when `meshwright serve` opened the page: it can run programs for real. */

/** How to reach it. The token comes with the opened address and is sent with every request. */
export interface Server {
  readonly token: string;
  /** Tells this page from others that are open: the server ends its run before it begins its next. */
  readonly page: string;
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
  return token === null ? undefined : { token, page: Math.random().toString(36).slice(2) };
}
