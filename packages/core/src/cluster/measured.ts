/** @file A machine as it was measured: what `meshwright calibrate --here` writes and a cluster of a job may say. Its devices
 * are ranks that share the machine's cores, its links are shared memory.
 */
import { type Fields, fieldsOf, isMapping } from '../errors/fields/index.ts';
import { issue } from '../errors/index.ts';
import { freezeDeep } from './fact.ts';
import type { CollectiveCurve, CurveKind } from './fit-types.ts';
import { createCluster } from './presets/build.ts';
import type { ClusterSpec, DeviceSpec, Fact, GemmModel, MeasuredCost, MeasuredDevice } from './types.ts';

const costKeys = ['us', 'usPerMFLOP', 'usPerMB'];
const kinds = ['gemm', 'attention', 'memory'] as const;
const curveKinds: readonly CurveKind[] = ['all-reduce', 'all-gather', 'reduce-scatter', 'all-to-all'];

/** Keys of the mapping `measured`. */
const measuredKeys: readonly string[] = [
  ...['machine', 'asOf', 'engine', 'cores', 'memoryGiB'],
  ...['kernels', 'others', 'between', 'exchanges'],
];

/** More ranks than this share no machine. */
const MOST_RANKS = 1024;

/** The cluster of a mapping with the key `measured`; undefined when something is wrong, which stands in the issues. */
export function measuredCluster(fields: Fields): ClusterSpec | undefined {
  const { issues } = fields;
  const before = issues.length;
  const ranks = fields.integer(['gpusPerNode'], {
    ...{ what: 'the number of ranks', min: 1, max: MOST_RANKS, required: true, example: 'gpusPerNode: 8' },
  });
  for (const key of ['preset', 'gpu', 'intra', 'inter', 'pcie', 'host', 'hostMemoryGiB'].filter((each) =>
    fields.has(each),
  )) {
    const message = `${key} stands beside measured, which says all of the machine.`;
    issues.push(issue('KEYS_CONFLICT', fields.at(key), message, 'Leave it out.'));
  }
  const own = fields.mapping('measured', measuredKeys);
  if (own === undefined) return undefined;
  const machine = own.text(['machine'], { what: 'the name of the machine' }) ?? 'a measured machine';
  const asOf = own.text(['asOf'], { what: 'the month of the measurement' }) ?? '';
  const engine = own.text(['engine'], { what: 'the kernels that were measured' }) ?? 'wasm';
  const cores = own.integer(['cores'], { what: 'the number of cores', min: 1, max: 4096, required: true });
  const memory = own.real(['memoryGiB'], { what: 'the memory', min: 1e-3, max: 1e6, required: true });
  const kernels = costs(own, 'kernels');
  const others = costs(own, 'others', kinds);
  const between = costOf(own, 'between');
  const curves = readCurves(own);
  if (issues.length > before || ranks === undefined || cores === undefined || memory === undefined) return undefined;
  const [gemm, attention, memoryBound] = kinds.map((kind) => others[kind]);
  if (!gemm || !attention || !memoryBound || !between) return undefined;
  const device: MeasuredDevice = {
    ...{ engine, cores, kernels, between },
    others: { gemm, attention, memory: memoryBound },
  };
  return clusterOf({ machine, asOf, ranks, memoryBytes: memory * 2 ** 30, device, curves });
}

function costs(own: Fields, key: string, required: readonly string[] = []): Readonly<Record<string, MeasuredCost>> {
  const { value } = own.raw([key]) ?? {};
  if (!isMapping(value)) {
    const hint = 'Write it as calibrate --here does: a name and its us, usPerMFLOP, usPerMB.';
    own.issues.push(issue('KEY_MISSING', own.at(key), `${key} is no mapping of costs.`, hint));
    return {};
  }
  const inner = fieldsOf(value, own.at(key), { issues: own.issues });
  const names = [...new Set([...required, ...Object.keys(value)])];
  return Object.fromEntries(
    names.flatMap((name) => {
      const cost = costOf(inner, name);
      return cost ? [[name, cost]] : [];
    }),
  );
}

const MICRO = 1e-6;
const PER_MEGA = 1e-12;

/** Seconds from microseconds, and microseconds of a million. */
function costOf(fields: Fields, key: string): MeasuredCost | undefined {
  const before = fields.issues.length;
  const own = fields.mapping(key, costKeys);
  if (own === undefined) {
    if (fields.issues.length === before) {
      fields.issues.push(issue('KEY_MISSING', fields.at(key), `${key} is absent.`, 'Give its us and usPerMB.'));
    }
    return undefined;
  }
  const number = (name: string): number => own.real([name], { what: `the cost ${name}`, min: 0, max: 1e9 }) ?? 0;
  return {
    start: number('us') * MICRO,
    perFlop: number('usPerMFLOP') * PER_MEGA,
    perByte: number('usPerMB') * PER_MEGA,
  };
}

function readCurves(own: Fields): readonly CollectiveCurve[] {
  return own.list('exchanges').flatMap(({ value, path }): readonly CollectiveCurve[] => {
    if (!isMapping(value)) {
      own.issues.push(issue('VALUE_UNKNOWN', path, 'it is no mapping.', 'Give kind, ranks, us and usPerMB.'));
      return [];
    }
    const each = fieldsOf(value, path, { known: ['kind', 'ranks', 'us', 'usPerMB'], issues: own.issues });
    const kind = each.choice('kind', curveKinds);
    const ranks = each.integer(['ranks'], { what: 'the number of ranks', min: 2, max: MOST_RANKS, required: true });
    const rule = { min: 0, max: 1e9, required: true };
    const alpha = each.real(['us'], { what: 'the time of the smallest exchange', ...rule });
    const perByte = each.real(['usPerMB'], { what: 'the time of a million bytes', ...rule });
    if (kind === undefined || ranks === undefined || alpha === undefined || perByte === undefined) return [];
    return [{ kind, ranks, alpha: alpha * MICRO, perByte: perByte * PER_MEGA, perRootByte: 0 }];
  });
}

interface Machine {
  readonly machine: string;
  readonly asOf: string;
  readonly ranks: number;
  readonly memoryBytes: number;
  readonly device: MeasuredDevice;
  readonly curves: readonly CollectiveCurve[];
}

/** Numbers that no price of a measured machine reads stay those of the node that it starts from. */
function clusterOf({ machine, asOf, ranks, memoryBytes, device, curves }: Machine): ClusterSpec {
  const base = createCluster('dgx-a100', 1);
  const measured = (value: number): Fact => ({
    value,
    kind: 'measured',
    source: machine,
    asOf,
    low: value,
    high: value,
  });
  const share = Math.max(1, ranks / device.cores);
  const gemm = device.kernels['gemm'] ?? device.others.gemm;
  const rate = (cost: MeasuredCost, per: 'perFlop' | 'perByte'): Fact =>
    measured(1 / Math.max(cost[per] * share, 1e-18));
  const model: GemmModel = {
    ...base.device.gemm.fp32,
    peak: rate(gemm, 'perFlop'),
    efficiency: measured(1),
    source: machine,
  };
  const spec: DeviceSpec = {
    ...base.device,
    name: `a rank of ${machine}`,
    generation: 'cpu',
    gemm: { fp32: model, bf16: model, fp16: undefined, fp8: undefined },
    sustained: measured(1),
    memory: measured(memoryBytes / ranks),
    memoryNominal: measured(memoryBytes / ranks),
    memoryBandwidth: rate(device.others.memory, 'perByte'),
    memoryEfficiency: measured(1),
    measured: device,
  };
  const largest = curves.find(({ kind }) => kind === 'all-gather');
  const link = measured(largest && largest.perByte > 0 ? (largest.ranks - 1) / largest.ranks / largest.perByte : 1e9);
  return freezeDeep({
    ...base,
    name: `${ranks} ranks of ${machine}`,
    preset: 'measured',
    gpusPerNode: ranks,
    device: spec,
    intra: {
      kind: 'switch',
      name: 'shared memory',
      gpus: ranks,
      bandwidth: link,
      peer: undefined,
      efficiency: measured(1),
      latency: measured(largest?.alpha ?? MICRO),
      curves,
      curveBandwidth: link.value,
      curveFit: measured(1),
    },
    host: { ...base.host, memory: measured(memoryBytes) },
  });
}
