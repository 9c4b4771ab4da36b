import type { ExitCode, Host, Stream } from './host.ts';
import { runCommand } from './run-command.ts';

/** What a run of the command left behind. */
export interface Ran {
  readonly code: ExitCode;
  readonly out: string;
  readonly err: string;
  readonly saved: ReadonlyMap<string, string>;
  /** What was written piece by piece, uncompressed. */
  readonly chunks: ReadonlyMap<string, Uint8Array>;
}

export interface Surroundings {
  readonly files?: Readonly<Record<string, string>>;
  readonly environment?: Host['environment'];
  readonly terminal?: boolean;
  /** What a person types, line by line; nobody is there when absent. */
  readonly typed?: readonly string[];
  /** Ctrl-C when this is resolved. */
  readonly interrupt?: Promise<void>;
}

/** Runs the command in this process, on files that exist in memory only. Paths are matched by their end. */
export async function runIn(args: readonly string[], surroundings: Surroundings = {}): Promise<Ran> {
  const { files = {}, environment = {}, terminal = false, interrupt, typed } = surroundings;
  const lines = [...(typed ?? [])];
  const saved = new Map<string, string>();
  const chunks = new Map<string, Uint8Array>();
  const texts = { out: '', err: '' };
  const stream = (name: 'out' | 'err'): Stream => ({
    write: (text) => void (texts[name] += text),
    isTerminal: terminal,
    columns: 80,
  });
  const code = await runCommand(args, {
    out: stream('out'),
    err: stream('err'),
    environment,
    ...(typed && { ask: async () => lines.shift() }),
    read: (path) => {
      const found = Object.entries(files).find(([name]) => path === name || path.endsWith(`/${name}`));
      if (found) return found[1];
      throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    },
    bytes: (path) => {
      const found = Object.entries(files).find(([name]) => path === name || path.endsWith(`/${name}`));
      if (found) return new TextEncoder().encode(found[1]);
      throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    },
    save: (path, text) => void saved.set(path, text),
    exists: (path) => path in files,
    saveChunks: async (path, pieces) => {
      chunks.set(path, Uint8Array.from(Buffer.concat([...pieces])));
      return chunks.get(path)?.length ?? 0;
    },
    onInterrupt: (listener) => {
      void interrupt?.then(listener);
      return () => undefined;
    },
  });
  return { code, ...texts, saved, chunks };
}
