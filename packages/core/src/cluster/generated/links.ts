// Written by bench/fit.mjs from data/. Do not edit: change the data and run it again.
import type { HostName, HostRows, NicTable, PcieTable, SwitchTable } from '../fit-types.ts';

export const switchRows: SwitchTable = {
  nvlink3: {
    bandwidth: [300000000000, 'stated', 'accelerators'],
    efficiency: [0.915, 'measured', 'p2p'],
    latency: [0.000004, 'assumed', 'guess', 0.000002, 0.00001],
  },
  'nvlink3-bridge': {
    bandwidth: [300000000000, 'stated', 'accelerators'],
    efficiency: [0.75, 'assumed', 'guess', 0.6, 0.9],
    latency: [0.000004, 'assumed', 'guess', 0.000002, 0.00001],
  },
  nvlink4: {
    bandwidth: [450000000000, 'stated', 'accelerators'],
    efficiency: [0.836, 'measured', 'p2p'],
    latency: [0.000003, 'assumed', 'guess', 0.000001, 0.000008],
  },
  nvlink5: {
    bandwidth: [900000000000, 'stated', 'accelerators'],
    efficiency: [0.829, 'measured', 'p2p'],
    latency: [0.000003, 'assumed', 'guess', 0.000001, 0.000008],
  },
};

export const pcieRows: PcieTable = {
  pcie4: {
    bandwidth: [31000000000, 'stated', 'accelerators'],
    efficiency: [0.6, 'assumed', 'guess', 0.35, 0.85],
    latency: [0.000008, 'assumed', 'guess', 0.000004, 0.00002],
    gpusPerUplink: [2, 'assumed', 'guess', 1, 4],
  },
  'pcie4-host': {
    bandwidth: [31000000000, 'stated', 'accelerators'],
    efficiency: [0.4, 'assumed', 'guess', 0.25, 0.65],
    latency: [0.000012, 'assumed', 'guess', 0.000006, 0.00003],
    gpusPerUplink: [1, 'assumed', 'guess', 1, 2],
  },
  pcie5: {
    bandwidth: [63000000000, 'stated', 'accelerators'],
    efficiency: [0.6, 'assumed', 'guess', 0.35, 0.85],
    latency: [0.000006, 'assumed', 'guess', 0.000003, 0.000015],
    gpusPerUplink: [2, 'assumed', 'guess', 1, 4],
  },
};

export const nicRows: NicTable = {
  'ib-200': {
    rate: [25000000000, 'stated', 'accelerators'],
    efficiency: [0.94, 'assumed', 'nccl', 0.85, 1],
    latency: [0.000008, 'assumed', 'guess', 0.000003, 0.00002],
    oversubscription: [1, 'assumed', 'guess', 1, 3],
  },
  'ib-400': {
    rate: [50000000000, 'stated', 'accelerators'],
    efficiency: [0.94, 'assumed', 'nccl', 0.85, 1],
    latency: [0.000008, 'assumed', 'guess', 0.000003, 0.00002],
    oversubscription: [1, 'assumed', 'guess', 1, 3],
  },
  'eth-100': {
    rate: [12500000000, 'assumed', 'guess', 3125000000, 50000000000],
    efficiency: [0.85, 'assumed', 'guess', 0.6, 0.95],
    latency: [0.000012, 'assumed', 'guess', 0.000005, 0.00004],
    oversubscription: [1, 'assumed', 'guess', 1, 3],
  },
  'eth-10': {
    rate: [1250000000, 'assumed', 'guess', 125000000, 12500000000],
    efficiency: [0.85, 'assumed', 'guess', 0.6, 0.95],
    latency: [0.00003, 'assumed', 'guess', 0.000015, 0.00008],
    oversubscription: [1, 'assumed', 'guess', 1, 3],
  },
};

export const hostRows: Readonly<Record<HostName, HostRows>> = {
  'dgx-a100': {
    memory: [2199000000000, 'stated', 'vendor'],
    copyBandwidth: [26300000000, 'measured', 'azure'],
  },
  'dgx-h100': {
    memory: [2199000000000, 'stated', 'vendor'],
    copyBandwidth: [51000000000, 'measured', 'azure'],
  },
  'dgx-b200': {
    memory: [2199000000000, 'stated', 'vendor'],
    copyBandwidth: [52000000000, 'assumed', 'guess', 40000000000, 60000000000],
  },
  'gb200-tray': {
    memory: [1031000000000, 'stated', 'vendor'],
    copyBandwidth: [180000000000, 'assumed', 'guess', 100000000000, 225000000000],
  },
  'pcie-server': {
    memory: [1100000000000, 'assumed', 'guess', 500000000000, 2200000000000],
    copyBandwidth: [24000000000, 'assumed', 'guess', 12000000000, 28000000000],
  },
  workstation: {
    memory: [137000000000, 'assumed', 'guess', 68000000000, 550000000000],
    copyBandwidth: [22000000000, 'assumed', 'guess', 10000000000, 26000000000],
  },
};
