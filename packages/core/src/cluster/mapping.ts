/** @file A cluster from a mapping: a preset, with the numbers that the mapping gives in their place. */
import { issue } from '../errors/index.ts';
import { deviceNamed, deviceNames } from './devices.ts';
import { freezeDeep, givenFact } from './fact.ts';
import { count, type Fields, isMapping } from './fields.ts';
import { createCluster, pcieIntra, presetNames, presetOfDevice } from './presets.ts';
import type { ClusterSpec, DeviceSpec, Fact, GemmModel, InterSpec, IntraSpec, PcieSpec } from './types.ts';

const kinds = ['switch', 'pairs', 'pcie'] as const;
const positive = { min: 1e-6, max: 1e9 };
const share = { min: 0.01, max: 1 };

/** The cluster of a mapping; undefined when it cannot be built, with the reasons among the issues of `fields`. */
export function clusterFromMapping(fields: Fields, nodes: number | undefined, path: string): ClusterSpec | undefined {
  const preset = fields.choice('preset', presetNames, 'CLUSTER_PRESET_UNKNOWN');
  const device = readDevice(fields);
  if (!fields.has('preset') && !fields.has('gpu')) {
    fields.issues.push(issue('KEY_MISSING', path, 'preset and gpu are both absent.', 'Give one of them.'));
  }
  const start = preset ?? (device && presetOfDevice[device.like]) ?? presetNames[0];
  if (start === undefined) return undefined;
  const base = createCluster(start, nodes);
  const gpusPerNode = fields.number('gpusPerNode', count(1024)) ?? base.gpusPerNode;
  const pcie = readPcie(fields, base.pcie);
  const intra = readIntra(fields, base, gpusPerNode, pcie);
  const inter = readInter(fields, base, gpusPerNode);
  const hostMemory = fields.number('hostMemoryGiB', positive);
  const price = fields.number('pricePerGpuHour', positive);
  checkNode(fields, gpusPerNode, intra, inter);
  const changed = [
    ...['gpusPerNode', 'gpu', 'intra', 'inter', 'pcie', 'hostMemoryGiB'].filter((key) => fields.has(key)),
  ];
  return freezeDeep({
    ...base,
    name: changed.length === 0 ? base.name : `${base.name} with its own ${changed.join(', ')}`,
    gpusPerNode,
    device: device?.spec ?? base.device,
    intra,
    pcie,
    inter,
    ...(price !== undefined && { price: givenFact(price) }),
    host: hostMemory === undefined ? base.host : { ...base.host, memory: givenFact(hostMemory * 2 ** 30) },
  });
}

/** The given number as a fact in the unit of `scale`, or the preset's. */
function fact(fields: Fields | undefined, key: string, scale: number, base: Fact, rule = positive): Fact {
  const value = fields?.number(key, rule);
  return value === undefined ? base : givenFact(value * scale);
}

interface DeviceChoice {
  readonly like: (typeof deviceNames)[number];
  readonly spec: DeviceSpec;
}

function readDevice(fields: Fields): DeviceChoice | undefined {
  if (!isMapping(fields.raw('gpu'))) {
    const like = fields.choice('gpu', deviceNames, 'GPU_UNKNOWN');
    return like && { like, spec: deviceNamed(like) };
  }
  const own = fields.mapping('gpu', ['like', 'bf16TFLOPS', 'fp8TFLOPS', 'memoryGiB', 'memoryGBps', 'sustained']);
  const like = own?.choice('like', deviceNames, 'GPU_UNKNOWN');
  if (!own?.has('like')) {
    const hint = `Give the device that it resembles: ${deviceNames.join(', ')}.`;
    fields.issues.push(issue('KEY_MISSING', fields.pathOf('gpu.like'), 'like is absent.', hint));
  }
  if (like === undefined) return undefined;
  const base = deviceNamed(like);
  const { bf16, fp32, fp8 } = base.gemm;
  const peak = fact(own, 'bf16TFLOPS', 1e12, bf16.peak);
  const half: GemmModel = { ...bf16, peak };
  const single: GemmModel = { ...fp32, peak: givenFact((fp32.peak.value * peak.value) / bf16.peak.value) };
  return {
    like,
    spec: {
      ...base,
      gemm: {
        bf16: half,
        fp16: half,
        fp32: peak === bf16.peak ? fp32 : single,
        fp8: fp8 && { ...fp8, peak: fact(own, 'fp8TFLOPS', 1e12, fp8.peak) },
      },
      memory: fact(own, 'memoryGiB', 2 ** 30, base.memory),
      memoryBandwidth: fact(own, 'memoryGBps', 1e9, base.memoryBandwidth),
      sustained: fact(own, 'sustained', 1, base.sustained, share),
    },
  };
}

function readPcie(fields: Fields, base: PcieSpec): PcieSpec {
  const own = fields.mapping('pcie', ['GBps', 'efficiency', 'latencyUs', 'gpusPerUplink']);
  return {
    name: base.name,
    bandwidth: fact(own, 'GBps', 1e9, base.bandwidth),
    efficiency: fact(own, 'efficiency', 1, base.efficiency, share),
    latency: fact(own, 'latencyUs', 1e-6, base.latency),
    gpusPerUplink: fact(own, 'gpusPerUplink', 1, base.gpusPerUplink, count(64)),
  };
}

function readIntra(fields: Fields, preset: ClusterSpec, gpusPerNode: number, pcie: PcieSpec): IntraSpec {
  const base = preset.intra;
  const own = fields.mapping('intra', ['kind', 'gpus', 'GBps', 'efficiency', 'latencyUs']);
  const kind = own?.choice('kind', kinds, 'VALUE_UNKNOWN') ?? base.kind;
  if (kind === 'pcie') {
    for (const key of ['gpus', 'GBps', 'efficiency', 'latencyUs'].filter((each) => own?.has(each))) {
      const message = `${key} of a domain of PCIe is that of the PCIe link.`;
      fields.issues.push(issue('KEY_UNKNOWN', fields.pathOf(`intra.${key}`), message, 'Give it under pcie.'));
    }
    return pcieIntra(pcie);
  }
  // A preset without fast links says nothing of NVLink: its efficiency and latency are guesses of their own.
  const from = base.kind === 'pcie' ? createCluster(kind === 'pairs' ? 'bridge-4x-a100' : 'dgx-a100').intra : base;
  const wholeNode = base.gpus === preset.gpusPerNode || from !== base;
  const gpus = own?.number('gpus', count(4096)) ?? (kind === 'pairs' ? 2 : wholeNode ? gpusPerNode : base.gpus);
  return {
    kind,
    name: from.name,
    gpus,
    bandwidth: fact(own, 'GBps', 1e9, from.bandwidth),
    efficiency: fact(own, 'efficiency', 1, from.efficiency, share),
    latency: fact(own, 'latencyUs', 1e-6, from.latency),
    curves: kind === from.kind && from === base ? from.curves : [],
    curveBandwidth: from.curveBandwidth,
  };
}

function readInter(fields: Fields, preset: ClusterSpec, gpusPerNode: number): InterSpec {
  const base = preset.inter;
  const own = fields.mapping('inter', ['Gbps', 'gpusPerNic', 'efficiency', 'latencyUs', 'oversubscription']);
  const rate = fact(own, 'Gbps', 1e9 / 8, base.rate);
  const sharedByNode = base.gpusPerNic === preset.gpusPerNode;
  return {
    name: rate === base.rate ? base.name : base.name.replace(/ [\d.]+ Gb/, ` ${Number((rate.value * 8) / 1e9)} Gb`),
    rate,
    gpusPerNic: own?.number('gpusPerNic', count(1024)) ?? (sharedByNode ? gpusPerNode : base.gpusPerNic),
    efficiency: fact(own, 'efficiency', 1, base.efficiency, share),
    latency: fact(own, 'latencyUs', 1e-6, base.latency),
    oversubscription: fact(own, 'oversubscription', 1, base.oversubscription, { min: 1, max: 64 }),
  };
}

function checkNode(fields: Fields, gpusPerNode: number, intra: IntraSpec, inter: InterSpec): void {
  if (gpusPerNode % intra.gpus !== 0 && intra.gpus % gpusPerNode !== 0) {
    const message = `a link domain of ${intra.gpus} devices neither divides nor holds whole nodes of ${gpusPerNode}.`;
    const hint = `Use a divisor or a multiple of ${gpusPerNode}.`;
    fields.issues.push(issue('NODE_NOT_WHOLE', fields.pathOf('intra.gpus'), message, hint));
  }
  if (gpusPerNode % inter.gpusPerNic !== 0) {
    const message = `${gpusPerNode} devices cannot share cards by ${inter.gpusPerNic}.`;
    const hint = `Use a divisor of ${gpusPerNode}.`;
    fields.issues.push(issue('NODE_NOT_WHOLE', fields.pathOf('inter.gpusPerNic'), message, hint));
  }
}
