/** @file The cluster file of a measured machine, as `clusterFromRequest` reads it. */
import type { CurveKind, MeasuredCost } from '../cluster/index.ts';
import type { KernelName, Work } from '../program/index.ts';
import { type CostSample, fitCost } from './fit.ts';

/** Seconds of one kernel on one shape. */
export interface KernelSample extends CostSample {
  readonly kernel: KernelName;
  readonly kind: Work['kind'];
  /** Seconds that passed before it, where nothing else was waited for, and the bytes that it writes. */
  readonly between: number | undefined;
  readonly bytesWritten: number;
}

/** Seconds of one collective; bytes of the full buffer. */
export interface ExchangeSample {
  readonly kind: CurveKind;
  readonly ranks: number;
  readonly bytes: number;
  readonly seconds: number;
}

/** What was measured on a machine. */
export interface MachineSamples {
  readonly machine: string;
  /** Year and month. */
  readonly asOf: string;
  readonly engine: string;
  readonly cores: number;
  readonly memoryBytes: number;
  /** Ranks that the cluster is to have. */
  readonly ranks: number;
  readonly kernels: readonly KernelSample[];
  readonly exchanges: readonly ExchangeSample[];
}

/** The cluster as YAML. */
export function machineText(samples: MachineSamples): string {
  const { machine, asOf, engine, cores, memoryBytes, ranks, kernels, exchanges } = samples;
  const names = [...new Set(kernels.map(({ kernel }) => kernel))].sort();
  const row = (name: string, some: readonly CostSample[]): string => `    ${name}: ${costText(fitCost(some))}`;
  const kinds = (['gemm', 'attention', 'memory'] as const).map((kind) =>
    row(
      kind,
      kernels.filter((each) => each.kind === kind),
    ),
  );
  const between = kernels.flatMap(({ between: seconds, bytesWritten }) =>
    seconds === undefined ? [] : [{ flops: 0, bytes: bytesWritten, seconds }],
  );
  return [
    `# This machine as a cluster, measured by meshwright calibrate --here with the ${engine} kernels in fp32.`,
    '# us: microseconds of the smallest; usPerMFLOP, usPerMB: of a million operations or bytes more.',
    `gpusPerNode: ${ranks} # ranks of a job; those beyond the cores take turns`,
    'measured:',
    `  machine: ${JSON.stringify(machine)}`,
    `  asOf: ${JSON.stringify(asOf)}`,
    `  engine: ${engine}`,
    `  cores: ${cores}`,
    `  memoryGiB: ${number(memoryBytes / 2 ** 30)}`,
    '  kernels:',
    ...names.map((name) =>
      row(
        name,
        kernels.filter(({ kernel }) => kernel === name),
      ),
    ),
    '  others: # kernels without a row of their own',
    ...kinds,
    `  between: ${costText(fitCost(between))} # before each kernel, by MB that it writes`,
    '  exchanges: # bytes of the full buffer',
    ...curvesOf(exchanges),
    '',
  ].join('\n');
}

const curvesOf = (exchanges: readonly ExchangeSample[]): readonly string[] =>
  [...new Set(exchanges.map(({ kind, ranks }) => `${ranks} ${kind}`))].sort().map((key) => {
    const some = exchanges.filter(({ kind, ranks }) => `${ranks} ${kind}` === key);
    const { start, perByte } = fitCost(some.map(({ bytes, seconds }) => ({ flops: 0, bytes, seconds })));
    const [first] = some;
    return `    - { kind: ${first?.kind}, ranks: ${first?.ranks}, us: ${number(start * 1e6)}, usPerMB: ${number(perByte * 1e12)} }`;
  });

const costText = ({ start, perFlop, perByte }: MeasuredCost): string =>
  `{ us: ${number(start * 1e6)}, usPerMFLOP: ${number(perFlop * 1e12)}, usPerMB: ${number(perByte * 1e12)} }`;

/** Four digits say more than any measurement. */
const number = (value: number): string => String(Number(value.toPrecision(4)));
