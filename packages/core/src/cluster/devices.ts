/** @file Devices: facts of the hardware table joined with the fitted constants of products. */
import { assertInvariant } from '../errors/index.ts';
import { assumedFact, factOf, fittedFact } from './fact.ts';
import type { DeviceName, DeviceRows, FactRow, GemmFit, TableGpu } from './fit-types.ts';
import { gemmFits, sharedFit } from './generated/gemm-fits.ts';
import { deviceRows } from './generated/hardware.ts';
import type { DeviceSpec, Fact, GemmModel, Generation } from './types.ts';

interface DeviceEntry {
  readonly generation: Generation;
  /** The table that the product model was fitted to; absent: the rounded constants of all tables. */
  readonly table?: TableGpu;
  /** The table is that of a device with the same die, or of another one that is like it. */
  readonly tableIs?: 'own' | 'like';
  /** Products in fp16 and bf16 are one rate, but for what is named here. */
  readonly without?: 'fp16';
}

const like = (generation: Generation, table: TableGpu): DeviceEntry => ({ generation, table, tableIs: 'like' });
const own = (generation: Generation, table: TableGpu): DeviceEntry => ({ generation, table, tableIs: 'own' });

const entries: Readonly<Record<DeviceName, DeviceEntry>> = {
  'V100-16GB-SXM': { generation: 'volta' },
  'V100-32GB-SXM': { generation: 'volta' },
  'A100-40GB-SXM': own('ampere', 'A100-SXM'),
  'A100-80GB-SXM': own('ampere', 'A100-SXM'),
  'A100-80GB-PCIe': own('ampere', 'A100-PCIe'),
  'A800-80GB-SXM': like('ampere', 'A100-SXM'),
  A10G: like('ampere', 'L40S'),
  A40: like('ampere', 'L40S'),
  'RTX-3090': like('ampere', 'L40S'),
  L40S: own('ada', 'L40S'),
  'RTX-4090': like('ada', 'L40S'),
  'H100-80GB-SXM': own('hopper', 'H100-SXM'),
  'H100-96GB-SXM': like('hopper', 'H100-SXM'),
  'H100-80GB-PCIe': like('hopper', 'H100-SXM'),
  'H800-80GB-SXM': like('hopper', 'H100-SXM'),
  'H20-96GB-SXM': like('hopper', 'H100-SXM'),
  'H200-141GB-SXM': own('hopper', 'H200-SXM'),
  'GH200-96GB': like('hopper', 'H200-SXM'),
  'B200-SXM': own('blackwell', 'B200-SXM'),
  'B300-SXM': own('blackwell', 'B300-SXM'),
  GB200: own('blackwell', 'GB200'),
  GB300: own('blackwell', 'GB300'),
  'RTX-5090': like('blackwell-rtx', 'L40S'),
  'RTX-PRO-6000-Server': like('blackwell-rtx', 'L40S'),
  'MI250X-GCD': { generation: 'cdna2' },
  MI300X: { generation: 'cdna3' },
  MI325X: { generation: 'cdna3' },
  MI355X: { generation: 'cdna4' },
  'TPU-v4': { generation: 'tpu', without: 'fp16' },
  'TPU-v5e': { generation: 'tpu', without: 'fp16' },
  'TPU-v5p': { generation: 'tpu', without: 'fp16' },
  'TPU-v6e': { generation: 'tpu', without: 'fp16' },
};

/** Names of the devices that clusters are made of. */
export const deviceNames: readonly DeviceName[] = Object.keys(entries) as DeviceName[];

/** The device of that name. */
export function deviceNamed(name: DeviceName): DeviceSpec {
  const rows = deviceRows[name];
  const entry = entries[name];
  const model = (dtype: 'bf16' | 'fp8', peak: FactRow | undefined): GemmModel | undefined =>
    peak && gemmModel(entry, rows, dtype, factOf(peak));
  return {
    name,
    generation: entry.generation,
    gemm: {
      fp32: gemmModel(entry, rows, 'bf16', factOf(rows.peakTf32)),
      fp16: entry.without === 'fp16' ? undefined : model('bf16', rows.peakFp16 ?? rows.peakBf16),
      bf16: model('bf16', rows.peakBf16),
      fp8: model('fp8', rows.peakFp8),
    },
    products: {
      accumulate: fittedFact(sharedFit.accumulate, sharedSource),
      grouped: fittedFact(sharedFit.grouped, sharedSource),
      groupedAccumulate: fittedFact(sharedFit.groupedAccumulate, sharedSource),
    },
    multiprocessors: factOf(rows.multiprocessors),
    sustained: factOf(rows.sustained),
    attention: {
      forward: factOf(rows.attentionForward),
      backward: factOf(rows.attentionBackward),
      forwardWaves: fittedFact(sharedFit.forwardWaves, sharedSource),
      backwardWaves: fittedFact(sharedFit.backwardWaves, sharedSource),
    },
    memoryNominal: factOf(rows.memoryNominal),
    memory: factOf(rows.memory),
    memoryBandwidth: factOf(rows.memoryBandwidth),
    memoryEfficiency: factOf(rows.memoryEfficiency),
    power: factOf(rows.power),
  };
}

const sharedSource = 'SimuMax a100_pcie.json, fitted by bench/fit.mjs; taken for every device';

function gemmModel(entry: DeviceEntry, rows: DeviceRows, dtype: 'bf16' | 'fp8', peak: Fact): GemmModel {
  const row = gemmFits.find((each) => each.gpu === entry.table && each.dtype === dtype);
  const fit = row?.fit ?? fallback;
  const fitted = `${row?.source ?? 'rounded constants of all tables'}, fitted by bench/fit.mjs`;
  const borrowed =
    row !== undefined && entry.tableIs === 'like' ? `shape constants of ${entry.table}: ${fitted}` : fitted;
  if (rows.productEfficiency !== undefined) {
    return { peak, efficiency: factOf(rows.productEfficiency), fit, source: borrowed };
  }
  const { efficiency: value } = fit;
  const isOwn = row !== undefined && entry.tableIs === 'own';
  const efficiency = isOwn
    ? fittedFact(value, fitted)
    : assumedFact(value, borrowed, 0.85 * value, Math.min(1, 1.1 * value));
  return { peak, efficiency, fit, source: borrowed };
}

/** For a device that no table is like: rounded constants of the others. */
const fallback: GemmFit = { efficiency: 0.75, fillK: 130, start: 3e-6, tileFactors: [1, 0.95, 0.85], quantise: 0 };

/** Products in a 16-bit type: in bf16, or in fp16 where the device has no bf16. */
export function halfProducts({ name, gemm }: DeviceSpec): GemmModel {
  const half = gemm.bf16 ?? gemm.fp16;
  assertInvariant(half !== undefined, () => `${name} has no 16-bit products`);
  return half;
}
