/** @file What a command may touch outside itself: two streams, files, the environment. Commands take it as a value, so
 * that they can be run inside another program, and in tests without a process. */
import { readFileSync } from 'node:fs';

/** One of the two streams of a command. */
export interface Stream {
  write(text: string): void;
  readonly isTerminal: boolean;
  /** Width in characters where it is a terminal. */
  readonly columns: number;
}

/** The surroundings of a command. */
export interface Host {
  /** For results only. */
  readonly out: Stream;
  /** For everything else: warnings, progress, errors. */
  readonly err: Stream;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The text of a file, `-` for standard input. Throws what Node throws when it cannot be read. */
  read(path: string): string;
  /** The bytes of a file. Throws what Node throws when it cannot be read. */
  bytes(path: string): Uint8Array;
  /** Writes a file that the user named. Throws what Node throws. */
  save(path: string, text: string): void;
  /** Whether a file or folder is there. */
  exists(path: string): boolean;
  /** Writes a file piece by piece, compressed when `gzip` is set, into a folder that is made when it is absent. Returns
   * bytes written. Throws what Node throws; what was written by then is removed. */
  saveChunks(path: string, chunks: Iterable<Uint8Array>, gzip: boolean): Promise<number>;
  /** Asks the person at the terminal for a line; undefined at the end of input. Absent where nobody is there. */
  readonly ask?: (question: string) => Promise<string | undefined>;
  /** Calls `listener` at the first Ctrl-C from now on; gives the way to stop listening. */
  onInterrupt(listener: () => void): () => void;
}

/** Exit codes of the contract: 0 ok, 1 nothing feasible or check failed, 2 bad input, 70 internal. */
export const exitCodes = { ok: 0, failed: 1, badInput: 2, internal: 70 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** What a subcommand is given: where it runs, and how it says that the answer is no. */
export interface Session {
  readonly host: Host;
  /** Sets the exit code of a run that came to its end; 0 when nobody says otherwise. */
  end(code: ExitCode): void;
}

const STANDARD_INPUT = 0;

/** Text of a file or, for `-`, of standard input. */
export const readText = (path: string): string => readFileSync(path === '-' ? STANDARD_INPUT : path, 'utf8');
