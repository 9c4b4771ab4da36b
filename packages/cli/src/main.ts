import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { isatty, type WriteStream } from 'node:tty';
import { exitCodes, type Host, readText, type Stream } from './host.ts';
import { runCommand } from './run-command.ts';
import { saveChunks } from './save-chunks.ts';

const streamOf = (stream: WriteStream): Stream => ({
  write: (text) => void stream.write(text),
  isTerminal: stream.isTTY === true,
  columns: stream.columns ?? 80,
});

/** A line from the terminal; the interface is closed after each, so that nothing keeps the process alive. */
async function ask(question: string): Promise<string | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  try {
    return await Promise.race([lines.question(question), ended]);
  } finally {
    lines.close();
  }
}

const host: Host = {
  // Not process.stdin.isTTY: touching that stream makes a pipe answer EAGAIN to whoever reads it at once.
  ...(isatty(0) && isatty(1) && { ask }),
  out: streamOf(process.stdout),
  err: streamOf(process.stderr),
  environment: process.env,
  read: readText,
  bytes: (path) => readFileSync(path),
  save: (path, text) => writeFileSync(path, text),
  exists: (path) => existsSync(path),
  saveChunks,
  onInterrupt: (listener) => {
    process.once('SIGINT', listener);
    return () => void process.off('SIGINT', listener);
  },
};

/** A reader that has seen enough (`| head`) is no error; a full disk is, in one line. */
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit();
    if (stream === process.stdout) {
      process.stderr.write(
        `FILE_NOT_WRITTEN  stdout: ${error.code ?? error.message}. Free space, or write elsewhere.\n`,
      );
    }
    process.exit(exitCodes.badInput);
  });
}

process.exitCode = await runCommand(process.argv.slice(2), host);
