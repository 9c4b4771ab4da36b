/** @file A cluster from a mapping: a preset, with the numbers that the mapping gives in their place. */
import { type Fields, isMapping } from '../errors/fields/index.ts';
import { issue } from '../errors/index.ts';
import { deviceNamed, deviceNames, halfProducts } from './devices.ts';
import { readInter } from './fabric.ts';
import { freezeDeep, givenFact } from './fact.ts';
import type { DeviceName } from './fit-types.ts';
import { clusterKeysUnder } from './keys.ts';
import { fact, share } from './numbers.ts';
import { createCluster, pcieIntra } from './presets/build.ts';
import { presetNames, presetOfDevice } from './presets/index.ts';
import type { ClusterSpec, DeviceSpec, GemmModel, HostSpec, InterSpec, IntraSpec, PcieSpec } from './types.ts';

/** Keys of a cluster of one kind of node. */
export const clusterKeys: readonly string[] = clusterKeysUnder('').filter((key) => key !== 'groups');
const kinds = ['switch', 'mesh', 'pairs', 'pcie'] as const;

/** The cluster of a mapping; undefined when it cannot be built, with the reasons among the issues of `fields`. */
export function clusterFromMapping(fields: Fields, nodes: number | undefined): ClusterSpec | undefined {
  const { issues } = fields;
  const preset = fields.choice('preset', presetNames, 'CLUSTER_PRESET_UNKNOWN');
  const device = readDevice(fields);
  if (!fields.has('preset') && !fields.has('gpu')) {
    issues.push(issue('KEY_MISSING', fields.path, 'preset and gpu are both absent.', 'Give one of them.'));
  }
  const usual = device && presetOfDevice(device.like);
  if (device !== undefined && usual === undefined && !fields.has('preset')) {
    const message = `no preset has the device ${device.like}: how its links are laid is not modelled.`;
    const hint = 'Give a preset whose node is like it, with intra and inter of your own.';
    issues.push(issue('DEVICE_WITHOUT_NODE', fields.at('gpu'), message, hint));
  }
  const start = preset ?? usual ?? presetNames[0];
  if (start === undefined) return undefined;
  const base = createCluster(start, nodes);
  const gpusPerNode =
    fields.integer(['gpusPerNode'], { what: 'the number of devices of a node', min: 1, max: 1024 }) ?? base.gpusPerNode;
  const pcie = readPcie(fields, base.pcie);
  const intra = readIntra(fields, base, gpusPerNode, pcie);
  const inter = readInter(fields, base, gpusPerNode);
  const host = readHost(fields, base.host);
  const price = fields.real(['pricePerGpuHour'], { what: 'the price of a device and hour', min: 1e-6, max: 1e9 });
  checkNode(fields, gpusPerNode, intra, inter);
  const changed = ['gpusPerNode', 'gpu', 'intra', 'inter', 'pcie', 'host', 'hostMemoryGiB'].filter((key) =>
    fields.has(key),
  );
  return freezeDeep({
    ...base,
    name: changed.length === 0 ? base.name : `${base.name} with its own ${changed.join(', ')}`,
    gpusPerNode,
    device: device?.spec ?? base.device,
    intra,
    pcie,
    inter,
    host,
    ...(price !== undefined && { price: givenFact(price) }),
  });
}

interface DeviceChoice {
  readonly like: DeviceName;
  readonly spec: DeviceSpec;
}

function readDevice(fields: Fields): DeviceChoice | undefined {
  if (!isMapping(fields.raw(['gpu'])?.value)) {
    const like = fields.choice('gpu', deviceNames, 'GPU_UNKNOWN');
    return like && { like, spec: deviceNamed(like) };
  }
  const own = fields.mapping('gpu', clusterKeysUnder('gpu'));
  const like = own?.choice('like', deviceNames, 'GPU_UNKNOWN');
  if (!own?.has('like')) {
    const hint = 'Give the device that it resembles, such as like: H100-80GB-SXM.';
    fields.issues.push(issue('KEY_MISSING', fields.at('gpu.like'), 'like is absent.', hint));
  }
  if (like === undefined) return undefined;
  const base = deviceNamed(like);
  return {
    like,
    spec: {
      ...base,
      gemm: readRates(own, base),
      memory: fact(own, 'memoryGiB', 2 ** 30, base.memory),
      memoryBandwidth: fact(own, 'memoryGBps', 1e9, base.memoryBandwidth),
      sustained: fact(own, 'sustained', 1, base.sustained, share),
    },
  };
}

/** The given rates; that of fp32 moves with that of the 16-bit types. */
function readRates(own: Fields | undefined, base: DeviceSpec): DeviceSpec['gemm'] {
  const { bf16, fp16, fp32, fp8 } = base.gemm;
  const usual = halfProducts(base).peak;
  const peak = fact(own, 'bf16TFLOPS', 1e12, usual);
  if (peak === usual) return { ...base.gemm, fp8: fp8 && { ...fp8, peak: fact(own, 'fp8TFLOPS', 1e12, fp8.peak) } };
  const half = (model: GemmModel | undefined): GemmModel | undefined => model && { ...model, peak };
  return {
    bf16: half(bf16),
    fp16: half(fp16),
    fp32: { ...fp32, peak: givenFact((fp32.peak.value * peak.value) / usual.value) },
    fp8: fp8 && { ...fp8, peak: fact(own, 'fp8TFLOPS', 1e12, fp8.peak) },
  };
}

function readPcie(fields: Fields, base: PcieSpec): PcieSpec {
  const own = fields.mapping('pcie', clusterKeysUnder('pcie'));
  return {
    name: base.name,
    bandwidth: fact(own, 'GBps', 1e9, base.bandwidth),
    efficiency: fact(own, 'efficiency', 1, base.efficiency, share),
    latency: fact(own, 'latencyUs', 1e-6, base.latency),
    gpusPerUplink: fact(own, 'gpusPerUplink', 1, base.gpusPerUplink, { whole: true, min: 1, max: 64 }),
  };
}

function readHost(fields: Fields, base: HostSpec): HostSpec {
  const own = fields.mapping('host', clusterKeysUnder('host'));
  // The key of the first releases.
  const memory = fact(fields, 'hostMemoryGiB', 2 ** 30, base.memory);
  return {
    memory: fact(own, 'memoryGiB', 2 ** 30, memory),
    memoryBandwidth: fact(own, 'memoryGBps', 1e9, base.memoryBandwidth),
    copyBandwidth: fact(own, 'copyGBps', 1e9, base.copyBandwidth),
    gpusPerUplink: fact(own, 'gpusPerUplink', 1, base.gpusPerUplink, { whole: true, min: 1, max: 64 }),
  };
}

function readIntra(fields: Fields, preset: ClusterSpec, gpusPerNode: number, pcie: PcieSpec): IntraSpec {
  const base = preset.intra;
  const own = fields.mapping('intra', clusterKeysUnder('intra'));
  const kind = own?.choice('kind', kinds) ?? base.kind;
  if (own?.has('peerGBps') && kind !== 'mesh') {
    const message = `peerGBps is the rate between two devices of a mesh, and the kind is ${kind}.`;
    fields.issues.push(issue('KEYS_CONFLICT', fields.at('intra.peerGBps'), message, 'Leave it out.'));
  }
  if (kind === 'pcie') {
    for (const key of ['gpus', 'GBps', 'efficiency', 'latencyUs'].filter((each) => own?.has(each))) {
      const message = `${key} of a domain of PCIe is that of the PCIe link.`;
      fields.issues.push(issue('KEY_UNKNOWN', fields.at(`intra.${key}`), message, 'Give it under pcie.'));
    }
    return pcieIntra(pcie);
  }
  // A preset without fast links says nothing of NVLink: its efficiency and latency are guesses of their own.
  const from = base.kind === 'pcie' || (kind === 'mesh' && base.kind !== 'mesh') ? usualOf(kind) : base;
  const wholeNode = base.gpus === preset.gpusPerNode || from !== base;
  const usual = kind === 'pairs' ? 2 : wholeNode ? gpusPerNode : base.gpus;
  const gpus = own?.integer(['gpus'], { what: 'the number of devices of a domain', min: 1, max: 4096 }) ?? usual;
  const keepsCurves = kind === from.kind && from === base;
  return {
    kind,
    name: from.name,
    gpus,
    bandwidth: fact(own, 'GBps', 1e9, from.bandwidth),
    peer: kind === 'mesh' && from.peer ? fact(own, 'peerGBps', 1e9, from.peer) : undefined,
    efficiency: fact(own, 'efficiency', 1, from.efficiency, share),
    latency: fact(own, 'latencyUs', 1e-6, from.latency),
    curves: keepsCurves ? from.curves : [],
    curveBandwidth: from.curveBandwidth,
    curveFit: keepsCurves ? from.curveFit : createCluster('dgx-a100').intra.curveFit,
  };
}

/** Links of a kind where the preset has none of that kind. */
function usualOf(kind: 'switch' | 'mesh' | 'pairs'): IntraSpec {
  const presets = { switch: 'dgx-a100', mesh: 'mi300x-8x', pairs: 'bridge-4x-a100' } as const;
  return createCluster(presets[kind]).intra;
}

function checkNode(fields: Fields, gpusPerNode: number, intra: IntraSpec, inter: InterSpec): void {
  if (gpusPerNode % intra.gpus !== 0 && intra.gpus % gpusPerNode !== 0) {
    const message = `a link domain of ${intra.gpus} devices neither divides nor holds whole nodes of ${gpusPerNode}.`;
    const hint = `Use a divisor or a multiple of ${gpusPerNode}.`;
    fields.issues.push(issue('NODE_NOT_WHOLE', fields.at('intra.gpus'), message, hint));
  }
  if (gpusPerNode % inter.gpusPerNic !== 0) {
    const message = `${gpusPerNode} devices cannot share cards by ${inter.gpusPerNic}.`;
    const hint = `Use a divisor of ${gpusPerNode}.`;
    fields.issues.push(issue('NODE_NOT_WHOLE', fields.at('inter.gpusPerNic'), message, hint));
  }
}
