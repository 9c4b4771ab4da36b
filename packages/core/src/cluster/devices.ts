/** @file Devices: facts of the hardware table joined with the fitted constants of products. */
import { factOf, fittedFact } from './fact.ts';
import type { DeviceName, GemmFit, TableGpu } from './fit-types.ts';
import { gemmFits, sharedFit } from './generated/gemm-fits.ts';
import { deviceRows } from './generated/hardware.ts';
import type { DeviceSpec, Fact, GemmModel, Generation } from './types.ts';

interface DeviceEntry {
  readonly generation: Generation;
  /** The table that the product model was fitted to. */
  readonly table: TableGpu;
  /** Replaces the fitted efficiency where the table is that of another device. */
  readonly efficiency?: number;
}

const entries: Readonly<Record<DeviceName, DeviceEntry>> = {
  'A100-40GB-SXM': { generation: 'ampere', table: 'A100-SXM' },
  'A100-80GB-SXM': { generation: 'ampere', table: 'A100-SXM' },
  'A100-80GB-PCIe': { generation: 'ampere', table: 'A100-PCIe' },
  'H100-80GB-SXM': { generation: 'hopper', table: 'H100-SXM' },
  'H100-96GB-SXM': { generation: 'hopper', table: 'H100-SXM' },
  'H200-141GB-SXM': { generation: 'hopper', table: 'H200-SXM' },
  'B200-SXM': { generation: 'blackwell', table: 'B200-SXM' },
  'B300-SXM': { generation: 'blackwell', table: 'B300-SXM' },
  GB200: { generation: 'blackwell', table: 'GB200' },
  GB300: { generation: 'blackwell', table: 'GB300' },
  L40S: { generation: 'ada', table: 'L40S' },
  'RTX-4090': { generation: 'ada', table: 'L40S', efficiency: 0.88 },
};

/** Names of the devices that clusters are made of. */
export const deviceNames: readonly DeviceName[] = Object.keys(entries) as DeviceName[];

/** The device of that name. */
export function deviceNamed(name: DeviceName): DeviceSpec {
  const rows = deviceRows[name];
  const entry = entries[name];
  const bf16 = gemmModel(entry, 'bf16', factOf(rows.peakBf16));
  return {
    name,
    generation: entry.generation,
    gemm: {
      fp32: gemmModel(entry, 'bf16', factOf(rows.peakTf32)),
      fp16: bf16,
      bf16,
      fp8: rows.peakFp8 && gemmModel(entry, 'fp8', factOf(rows.peakFp8)),
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

function gemmModel(entry: DeviceEntry, dtype: 'bf16' | 'fp8', peak: Fact): GemmModel {
  const row = gemmFits.find((each) => each.gpu === entry.table && each.dtype === dtype);
  const fit = row?.fit ?? fallback;
  const source = `${row?.source ?? 'no table'}, fitted by bench/fit.mjs`;
  if (entry.efficiency === undefined) return { peak, fit, source };
  return {
    peak,
    fit: { ...fit, efficiency: entry.efficiency },
    source: `shape constants of ${entry.table}: ${source}; efficiency assumed`,
  };
}

/** For a table that has no row of that type: rounded constants of the others. */
const fallback: GemmFit = { efficiency: 0.75, fillK: 130, start: 3e-6, tileFactors: [1, 0.95, 0.85], quantise: 0 };
