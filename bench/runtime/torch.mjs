/** @file What PyTorch needs for the same work, where a Python with torch is found; undefined where none is. */
import { spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('block.py', import.meta.url));

/** The first Python that imports torch. */
const torchPython = ['python3', '/usr/bin/python3'].find(
  (python) => spawnSync(python, ['-c', 'import torch']).status === 0,
);

/** Processor seconds of the block, the version and the library of its products. `core`: the processor that OpenBLAS is told. */
export function torchBlock(core) {
  if (torchPython === undefined) return undefined;
  const { OPENBLAS_CORETYPE: _told, ...rest } = process.env;
  const env = core === undefined ? rest : { ...rest, OPENBLAS_CORETYPE: core };
  const { status, stdout } = spawnSync(torchPython, [script], { encoding: 'utf8', env });
  if (status !== 0) return undefined;
  const [seconds, version, ...library] = stdout.trim().split(' ');
  return { seconds: Number(seconds), version, library: library.join(' ') };
}

const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** Wall and processor seconds of two ranks over Gloo; `what` is `ddp` or `reduce`. */
export async function torchRanks(what) {
  if (torchPython === undefined) return undefined;
  const port = String(await freePort());
  const run = (rank) =>
    new Promise((resolve) => {
      const child = spawn(torchPython, [script, what, port, String(rank)], { stdio: ['ignore', 'pipe', 'ignore'] });
      let text = '';
      child.stdout.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      child.on('close', (code) => resolve(code === 0 ? text.trim().split(' ').map(Number) : undefined));
    });
  const [result] = await Promise.all([run(0), run(1)]);
  return result && { seconds: result[0], processor: result[1] };
}
