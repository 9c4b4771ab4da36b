import type { Host } from '../host.ts';

/** One line on stderr that says how far long work has come; nothing at all where stderr is no terminal. */
export interface Progress {
  update(text: string): void;
  /** Takes the line away. */
  done(): void;
}

/** A progress line on the host's stderr. */
export function createProgress({ err }: Host): Progress {
  const clear = '\r\u001b[2K';
  const write = (text: string): void => {
    if (err.isTerminal) err.write(text);
  };
  return {
    update: (text) => write(clear + text.slice(0, Math.max(1, err.columns - 1))),
    done: () => write(clear),
  };
}
