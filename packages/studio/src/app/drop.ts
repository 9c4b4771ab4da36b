/** @file Files dropped on the page. What cannot be used is explained in place and changes nothing. */
import type { Store } from './store.ts';

/** Larger files are refused unread: a job file has kilobytes. */
const LARGEST_DROP = 4 * 2 ** 20;
/** A trace has megabytes. */
const LARGEST_JSON = 64 * 2 ** 20;

/** Reads a file that somebody dropped or chose. */
export async function readFile(file: File, store: Store): Promise<void> {
  const refusal = await refusalOf(file);
  if (refusal !== undefined) {
    store.notice.value = refusal;
    return;
  }
  const answer = await store.quickly.ask('drop', file.name, await file.text(), store.place.value.scenario);
  if (answer.kind === 'trace') {
    store.trace.value = answer;
    const { name, overlay } = answer;
    if (typeof overlay === 'object' && typeof overlay.replay === 'object')
      store.replay.value = { says: `${name}, which ran elsewhere.`, script: overlay.replay };
    store.notice.value = answer.says;
    store.open('timeline');
    return;
  }
  if (answer.kind === 'scenario') {
    store.edit(answer.scenario);
    store.notice.value = answer.says;
    return;
  }
  const reasons = answer.issues.map(({ code, position, message, hint = '' }) => {
    const where = position === undefined ? '' : `line ${position.line}: `;
    return `${where}${message} ${brief(hint)} (${code})`;
  });
  store.notice.value = [answer.says, ...reasons].join(' ');
}

/** Letters of a hint that are shown: the list of all models has more. */
const MOST_HINT = 200;

const brief = (hint: string): string =>
  hint.length <= MOST_HINT ? hint : `${hint.slice(0, hint.lastIndexOf(' ', MOST_HINT))} \u2026`;

async function refusalOf(file: File): Promise<string | undefined> {
  const size = `${(file.size / 2 ** 20).toFixed(1)} MiB`;
  const largest = file.name.endsWith('.json') ? LARGEST_JSON : LARGEST_DROP;
  if (file.size > largest) {
    return `${file.name} has ${size}, more than the ${largest / 2 ** 20} MiB that are read here; nothing was changed. Drop a config.json, a job file or a trace.`;
  }
  if (file.size === 0) return `${file.name} is empty; nothing was changed.`;
  const begin = new Uint8Array(await file.slice(0, 65_536).arrayBuffer());
  if (begin.includes(0))
    return `${file.name} is not text; nothing was changed. Drop a config.json, a job file or a trace.`;
  return undefined;
}
