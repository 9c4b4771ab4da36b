/** @file The files that `meshwright simulate` writes: which, whether they may be written, and how. */
import { join } from 'node:path';
import { InputError, issue, quote } from '@meshwright/core/errors';
import {
  chakraTraces,
  chromeTrace,
  encodeTexts,
  memorySnapshot,
  perfettoTrace,
  type TracedStep,
} from '@meshwright/core/export';
import type { Host } from '../host.ts';
import { refuseExisting, saveChunksNamed } from '../input/files.ts';
import type { Progress } from '../output/progress.ts';

/** What the command line asks for. */
export interface OutputOptions {
  readonly trace?: string | undefined;
  readonly memory?: string | undefined;
  readonly chakra?: string | undefined;
  readonly force?: true | undefined;
}

/** A file that was written. */
export interface WrittenFile {
  readonly path: string;
  readonly bytes: number;
}

type TraceFormat = 'perfetto' | 'chrome';
const formats: Readonly<Record<string, TraceFormat>> = {
  '.pftrace': 'perfetto',
  '.perfetto-trace': 'perfetto',
  '.json': 'chrome',
};

interface NamedTrace {
  readonly path: string;
  readonly format: TraceFormat;
  readonly gzip: boolean;
}

/** Files to write, checked before any work is done. */
export interface Outputs {
  readonly trace?: NamedTrace;
  readonly memory?: string;
  readonly chakra?: ChakraFolder;
}

interface ChakraFolder {
  readonly path: string;
  /** File of a rank. */
  fileOf(rank: number): string;
  readonly groups: string;
}

/** Reads what is asked for. Throws VALUE_UNKNOWN for an ending that says no format, FILE_EXISTS for what is there. */
export function readOutputs(options: OutputOptions, job: string, ranks: readonly number[], host: Host): Outputs {
  const trace = options.trace === undefined ? undefined : namedTrace(options.trace);
  const chakra = options.chakra === undefined ? undefined : chakraFolder(options.chakra, job);
  const paths = [
    ...(trace ? [trace.path] : []),
    ...(options.memory === undefined ? [] : [options.memory]),
    ...(chakra ? [...ranks.map(chakra.fileOf), chakra.groups] : []),
  ];
  if (options.force !== true) refuseExisting(paths, host);
  return {
    ...(trace && { trace }),
    ...(options.memory !== undefined && { memory: options.memory }),
    ...(chakra && { chakra }),
  };
}

function namedTrace(path: string): NamedTrace {
  const gzip = path.endsWith('.gz');
  const plain = gzip ? path.slice(0, -'.gz'.length) : path;
  const ending = Object.keys(formats).find((each) => plain.endsWith(each));
  const format = formats[ending ?? ''];
  if (format !== undefined) return { path, format, gzip };
  throw new InputError([
    issue(
      'VALUE_UNKNOWN',
      '--trace',
      `the ending of ${quote(path)} names no format.`,
      'Use .pftrace (Perfetto) or .json (Chrome), with .gz after it to compress.',
    ),
  ]);
}

function chakraFolder(path: string, job: string): ChakraFolder {
  const name = job.replace(/[^\w.-]+/g, '-').replace(/^[.-]+/, '') || 'step';
  return {
    path,
    fileOf: (rank) => join(path, `${name}.${rank}.et`),
    groups: join(path, `${name}.groups.json`),
  };
}

/** Writes all files, with a line of progress. Chakra files are written for `chakraRanks`. */
export async function writeOutputs(
  outputs: Outputs,
  step: TracedStep,
  chakraRanks: TracedStep['ranks'],
  progress: Progress,
  host: Host,
): Promise<readonly WrittenFile[]> {
  const written: WrittenFile[] = [];
  const write = async (path: string, chunks: Iterable<Uint8Array>, gzip = false): Promise<void> => {
    const bytes = await saveChunksNamed(path, counted(chunks, path, progress), gzip, host);
    written.push({ path, bytes });
  };
  const { trace, memory, chakra } = outputs;
  if (trace)
    await write(
      trace.path,
      trace.format === 'perfetto' ? perfettoTrace(step) : encodeTexts(chromeTrace(step)),
      trace.gzip,
    );
  if (memory !== undefined) await write(memory, memorySnapshot(step));
  if (chakra) {
    const traces = chakraTraces({ ...step, ranks: chakraRanks });
    for (const rank of chakraRanks) await write(chakra.fileOf(rank.rank), traces.rank(rank));
    await write(chakra.groups, encodeTexts([`${JSON.stringify(traces.groups)}\n`]));
  }
  return written;
}

const MEGABYTE = 1e6;

function* counted(chunks: Iterable<Uint8Array>, path: string, progress: Progress): Generator<Uint8Array> {
  let bytes = 0;
  for (const chunk of chunks) {
    bytes += chunk.length;
    progress.update(`writing ${path}: ${Math.round(bytes / MEGABYTE)} MB`);
    yield chunk;
  }
}
