/** @file One of two ranks that all-reduce the same buffer over and over; rank 0 reports medians. Built modules of the
 * runtime are used as they are: the fabric is laid out by hand, because no program asks for it. */
import { parentPort, workerData } from 'node:worker_threads';
import { vectorAdd } from '../../packages/runtime/dist/kernels/wasm/vector-add.js';
import { ringAllReduce } from '../../packages/runtime/dist/transport/collectives.js';
import { openPort } from '../../packages/runtime/dist/transport/port.js';
import { wireOf } from '../../packages/runtime/dist/transport/wire.js';

const { rank, bytes, control, ledger, staging } = workerData;
const channels = [{ ring: { control: 8, staging: 0 } }, { ring: { control: 12, staging: 0 } }];
const plan = {
  ranks: 2,
  channels,
  stagingBytes: [bytes, bytes],
  controlWords: 16,
  ledger: [{ kind: 'all-reduce', over: 'data', axis: 'data', rule: 'bench' }],
};
const port = openPort(plan, { control, staging, ledger }, rank);
const elements = bytes / 4;
const values = new Float32Array(elements).fill(rank + 1);
const result = new Float32Array(elements);
const half = elements / 2;
const circle = {
  port,
  channels: [port.channel(0, 'ring'), port.channel(1, 'ring')],
  place: rank,
  pieceElements: half,
  wire: wireOf('fp32', 'float32'),
  key: 0,
  create: (length) => new Float32Array(length),
  add: vectorAdd(),
};

function allReduce() {
  const pieces = [values.subarray(0, half), values.subarray(half)];
  const run = ringAllReduce(circle, pieces, 'sum', (index, piece) => result.set(piece, index * half));
  for (;;) {
    const seen = port.bell();
    if (run.next().done) return;
    port.sleep(seen, 10_000);
  }
}

/** Warm-up, then medians of 7: each of 5 all-reduces. Processor time is that of both ranks, halved. */
const WARM = 5;
const EACH = 5;
const walls = [];
const used = [];
for (let time = 0; time < WARM; time++) allReduce();
for (let sample = 0; sample < 7; sample++) {
  const before = process.cpuUsage();
  const start = process.hrtime.bigint();
  for (let time = 0; time < EACH; time++) allReduce();
  walls.push(Number(process.hrtime.bigint() - start) / EACH / 1e9);
  const { user, system } = process.cpuUsage(before);
  used.push((user + system) / 2 / EACH / 1e6);
}
const median = (values) => values.sort((a, b) => a - b)[3];
if (result.some((value) => value !== 3)) throw new Error('the sum is wrong');
if (rank === 0) parentPort.postMessage({ seconds: median(walls), processor: median(used) });
