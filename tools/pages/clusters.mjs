/** @file docs/reference/clusters.md: presets, devices and keys of clusters, with the source of every number. */
import { code, table } from './markdown.mjs';

const number = (value, digits = 3) => Number(value.toPrecision(digits)).toLocaleString('en-US');
const mark = ({ kind }) => (kind === 'assumed' ? '~' : '');
const rate = (fact, unit, digits) => (fact === undefined ? '-' : `${number(fact.value / unit, digits)}${mark(fact)}`);

function presetRow(name, entry, cluster) {
  const { intra, inter, host } = cluster;
  const fast = intra.kind === 'pcie' ? intra.name : `${intra.name}, ${intra.kind} of ${intra.gpus}`;
  const network = rate(inter.rate, 1e9 / 8 / (1 / inter.gpusPerNic), 4);
  return [
    code(name),
    entry.says,
    cluster.device.name,
    cluster.gpusPerNode,
    fast,
    rate(intra.bandwidth, 1e9),
    inter.name,
    network,
    rate(host.memory, 2 ** 30, 4),
  ];
}

function deviceRow(device) {
  const { gemm } = device;
  const peak = (model) => rate(model?.peak, 1e12, 4);
  return [
    code(device.name),
    device.generation,
    peak(gemm.bf16),
    peak(gemm.fp16),
    peak(gemm.fp8),
    peak(gemm.fp32),
    rate((gemm.bf16 ?? gemm.fp16)?.efficiency, 1),
    rate(device.memoryNominal, 2 ** 30, 4),
    rate(device.memory, 2 ** 30, 4),
    rate(device.memoryBandwidth, 1e12),
    rate(device.power, 1),
  ];
}

const factsOf = (device) => [
  ['products', device.gemm.bf16?.peak ?? device.gemm.fp16?.peak],
  ['share of peak', device.gemm.bf16?.efficiency ?? device.gemm.fp16?.efficiency],
  ['memory', device.memoryNominal],
  ['allocator', device.memory],
  ['memory rate', device.memoryBandwidth],
  ['power', device.power],
];

/** The page, from the cluster room. */
export function clustersPage({ presets, presetNames, createCluster, deviceNames, deviceNamed, clusterKeyTable }) {
  const devices = deviceNames.map(deviceNamed);
  const sources = devices.map((device) => [
    code(device.name),
    factsOf(device)
      .map(([what, fact]) => `${what}: ${fact.source}`)
      .join('; '),
  ]);
  return [
    '# Clusters',
    '',
    'What a job file may say under `cluster`: `NODESx PRESET`, groups that differ joined by `+` (`4x dgx-h100 + 2x dgx-a100`), or a mapping',
    'of the keys below. A number with `~` is assumed and has a range; the others are stated, measured or fitted. Rates are of one',
    'direction. Generated from `data/hardware.json` and `packages/core/src/cluster` by `node tools/generate-docs.mjs`.',
    '',
    '## Presets',
    '',
    ...table(
      ['Preset', 'Node', 'Device', 'GPUs', 'Fast links', 'GB/s', 'Network', 'Gb/s a GPU', 'Host GiB'],
      presetNames.map((name) => presetRow(name, presets[name], createCluster(name))),
      ['GPUs', 'GB/s', 'Gb/s a GPU', 'Host GiB'],
    ),
    '',
    '## Devices',
    '',
    'Dense rates in TFLOP/s; `share` is the part of peak that one long tile of a product reaches: fitted where a table of products is',
    'of this device, assumed where it is borrowed from one that is like it.',
    '',
    ...table(
      ['Device', 'Family', 'bf16', 'fp16', 'fp8', 'fp32', 'share', 'GiB', 'GiB for the allocator', 'TB/s', 'W'],
      devices.map(deviceRow),
      ['bf16', 'fp16', 'fp8', 'fp32', 'share', 'GiB', 'GiB for the allocator', 'TB/s', 'W'],
    ),
    '',
    '## Keys',
    '',
    ...table(
      ['Key', 'Takes', 'Meaning'],
      clusterKeyTable.map(({ path, takes, says }) => [code(path), takes, says]),
    ),
    '',
    '## Where the numbers of devices come from',
    '',
    ...table(['Device', 'Sources'], sources),
    '',
  ].join('\n');
}
