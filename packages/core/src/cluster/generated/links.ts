// Written by bench/fit.mjs from data/. Do not edit: change the data and run it again.
import type { HostName, HostRows, NicTable, PcieTable, SwitchTable } from '../fit-types.ts';

export const switchRows: SwitchTable = {
  nvlink2: {
    bandwidth: [150000000000, 'stated', 'accelerators'],
    efficiency: [0.88, 'assumed', 'guess', 0.8, 0.93],
    latency: [0.000005, 'assumed', 'guess', 0.000002, 0.000012],
  },
  'nvlink2-cube': {
    bandwidth: [150000000000, 'stated', 'accelerators'],
    peer: [37500000000, 'assumed', 'guess', 25000000000, 50000000000],
    efficiency: [0.85, 'assumed', 'guess', 0.75, 0.92],
    latency: [0.000005, 'assumed', 'guess', 0.000002, 0.000012],
  },
  'nvlink3-reduced': {
    bandwidth: [200000000000, 'stated', 'datasheet'],
    efficiency: [0.915, 'assumed', 'like-a100', 0.85, 0.95],
    latency: [0.000004, 'assumed', 'guess', 0.000002, 0.00001],
  },
  'nvlink3-3090': {
    bandwidth: [56250000000, 'stated', 'vendor'],
    efficiency: [0.75, 'assumed', 'guess', 0.6, 0.9],
    latency: [0.000005, 'assumed', 'guess', 0.000002, 0.000012],
  },
  'nvlink4-reduced': {
    bandwidth: [200000000000, 'stated', 'accelerators'],
    efficiency: [0.836, 'assumed', 'like-h100', 0.78, 0.9],
    latency: [0.000003, 'assumed', 'guess', 0.000001, 0.000008],
  },
  'nvlink4-bridge': {
    bandwidth: [300000000000, 'stated', 'vendor'],
    efficiency: [0.75, 'assumed', 'guess', 0.6, 0.9],
    latency: [0.000004, 'assumed', 'guess', 0.000002, 0.00001],
  },
  xgmi2: {
    bandwidth: [350000000000, 'stated', 'accelerators'],
    peer: [50000000000, 'stated', 'accelerators'],
    efficiency: [0.7, 'assumed', 'xgmi', 0.55, 0.8],
    latency: [0.000006, 'assumed', 'guess', 0.000003, 0.000015],
  },
  xgmi3: {
    bandwidth: [448000000000, 'stated', 'accelerators'],
    peer: [64000000000, 'stated', 'accelerators'],
    efficiency: [0.698, 'measured', 'xgmi'],
    latency: [0.000006, 'assumed', 'guess', 0.000003, 0.000015],
  },
  xgmi4: {
    bandwidth: [537600000000, 'stated', 'vendor'],
    peer: [76800000000, 'stated', 'vendor'],
    efficiency: [0.7, 'assumed', 'xgmi', 0.6, 0.8],
    latency: [0.000006, 'assumed', 'guess', 0.000003, 0.000015],
  },
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
  pcie3: {
    bandwidth: [15750000000, 'stated', 'vendor'],
    efficiency: [0.6, 'assumed', 'guess', 0.35, 0.85],
    latency: [0.000009, 'assumed', 'guess', 0.000004, 0.000022],
    gpusPerUplink: [2, 'assumed', 'guess', 1, 4],
  },
  'pcie5-host': {
    bandwidth: [63000000000, 'stated', 'accelerators'],
    efficiency: [0.4, 'assumed', 'guess', 0.25, 0.65],
    latency: [0.00001, 'assumed', 'guess', 0.000005, 0.000025],
    gpusPerUplink: [1, 'assumed', 'guess', 1, 2],
  },
  pcie6: {
    bandwidth: [121000000000, 'stated', 'accelerators'],
    efficiency: [0.6, 'assumed', 'guess', 0.35, 0.85],
    latency: [0.000006, 'assumed', 'guess', 0.000003, 0.000015],
    gpusPerUplink: [1, 'assumed', 'guess', 1, 2],
  },
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
  'ib-100': {
    rate: [12500000000, 'stated', 'accelerators'],
    efficiency: [0.94, 'assumed', 'nccl', 0.85, 1],
    latency: [0.000008, 'assumed', 'guess', 0.000003, 0.00002],
    oversubscription: [1, 'assumed', 'guess', 1, 3],
  },
  'ib-800': {
    rate: [100000000000, 'stated', 'accelerators'],
    efficiency: [0.94, 'assumed', 'nccl', 0.85, 1],
    latency: [0.000008, 'assumed', 'guess', 0.000003, 0.00002],
    oversubscription: [1, 'assumed', 'guess', 1, 3],
  },
  'slingshot-200': {
    rate: [25000000000, 'stated', 'accelerators'],
    efficiency: [0.9, 'assumed', 'guess', 0.75, 0.97],
    latency: [0.00001, 'assumed', 'guess', 0.000004, 0.000025],
    oversubscription: [1, 'assumed', 'guess', 1, 3],
  },
  'efa-100': {
    rate: [12500000000, 'stated', 'aws'],
    efficiency: [0.85, 'assumed', 'accelerators', 0.75, 0.92],
    latency: [0.00002, 'assumed', 'guess', 0.000012, 0.00004],
    oversubscription: [1, 'assumed', 'guess', 1, 3],
  },
  'efa-400': {
    rate: [50000000000, 'stated', 'aws'],
    efficiency: [0.85, 'assumed', 'guess', 0.72, 0.93],
    latency: [0.000016, 'assumed', 'guess', 0.00001, 0.000035],
    oversubscription: [1, 'assumed', 'guess', 1, 3],
  },
  'tcp-100': {
    rate: [12500000000, 'stated', 'clouds'],
    efficiency: [0.75, 'assumed', 'guess', 0.55, 0.9],
    latency: [0.00003, 'assumed', 'guess', 0.000015, 0.00006],
    oversubscription: [1, 'assumed', 'guess', 1, 3],
  },
  'tcpx-200': {
    rate: [25000000000, 'stated', 'clouds'],
    efficiency: [0.8, 'assumed', 'guess', 0.6, 0.92],
    latency: [0.00002, 'assumed', 'guess', 0.00001, 0.000045],
    oversubscription: [1, 'assumed', 'guess', 1, 3],
  },
  'roce-200': {
    rate: [25000000000, 'stated', 'clouds'],
    efficiency: [0.9, 'assumed', 'guess', 0.8, 0.97],
    latency: [0.00001, 'assumed', 'guess', 0.000004, 0.000025],
    oversubscription: [1, 'assumed', 'guess', 1, 3],
  },
  'roce-400': {
    rate: [50000000000, 'stated', 'clouds'],
    efficiency: [0.9, 'assumed', 'guess', 0.8, 0.97],
    latency: [0.00001, 'assumed', 'guess', 0.000004, 0.000025],
    oversubscription: [1, 'assumed', 'guess', 1, 3],
  },
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
  'dgx-1': {
    memory: [549000000000, 'stated', 'vendor'],
    copyBandwidth: [11000000000, 'assumed', 'guess', 8000000000, 13000000000],
    memoryBandwidth: [256000000000, 'stated', 'memory-channels'],
    gpusPerUplink: [2, 'stated', 'vendor'],
  },
  'dgx-2': {
    memory: [1649000000000, 'stated', 'vendor'],
    copyBandwidth: [11000000000, 'assumed', 'guess', 8000000000, 13000000000],
    memoryBandwidth: [256000000000, 'stated', 'memory-channels'],
    gpusPerUplink: [2, 'assumed', 'guess', 2, 4],
  },
  'dgx-a100': {
    memory: [2199000000000, 'stated', 'vendor'],
    copyBandwidth: [26300000000, 'measured', 'azure'],
    memoryBandwidth: [409600000000, 'stated', 'memory-channels'],
    gpusPerUplink: [2, 'assumed', 'vendor', 1, 2],
  },
  'dgx-h100': {
    memory: [2199000000000, 'stated', 'vendor'],
    copyBandwidth: [51000000000, 'measured', 'azure'],
    memoryBandwidth: [614000000000, 'stated', 'memory-channels'],
    gpusPerUplink: [1, 'assumed', 'guess', 1, 2],
  },
  'dgx-b200': {
    memory: [2199000000000, 'stated', 'vendor'],
    copyBandwidth: [52000000000, 'assumed', 'guess', 40000000000, 60000000000],
    memoryBandwidth: [717000000000, 'stated', 'memory-channels'],
    gpusPerUplink: [1, 'assumed', 'guess', 1, 2],
  },
  'gh200-node': {
    memory: [515000000000, 'stated', 'vendor'],
    copyBandwidth: [350000000000, 'assumed', 'guess', 200000000000, 430000000000],
    memoryBandwidth: [500000000000, 'stated', 'vendor'],
    gpusPerUplink: [1, 'stated', 'vendor'],
  },
  'gb200-tray': {
    memory: [1031000000000, 'stated', 'vendor'],
    copyBandwidth: [180000000000, 'assumed', 'guess', 100000000000, 225000000000],
    memoryBandwidth: [1000000000000, 'stated', 'vendor'],
    gpusPerUplink: [1, 'stated', 'vendor'],
  },
  'mi-box': {
    memory: [2200000000000, 'assumed', 'guess', 1500000000000, 3300000000000],
    copyBandwidth: [48000000000, 'assumed', 'guess', 35000000000, 56000000000],
    memoryBandwidth: [921000000000, 'stated', 'memory-channels'],
    gpusPerUplink: [1, 'assumed', 'guess', 1, 2],
  },
  'mi250x-node': {
    memory: [549000000000, 'stated', 'vendor'],
    copyBandwidth: [24000000000, 'assumed', 'guess', 18000000000, 33000000000],
    memoryBandwidth: [204800000000, 'stated', 'memory-channels'],
    gpusPerUplink: [1, 'stated', 'vendor'],
  },
  'pcie-server': {
    memory: [1100000000000, 'assumed', 'guess', 500000000000, 2200000000000],
    copyBandwidth: [24000000000, 'assumed', 'guess', 12000000000, 28000000000],
    memoryBandwidth: [400000000000, 'assumed', 'guess', 200000000000, 900000000000],
    gpusPerUplink: [2, 'assumed', 'guess', 1, 4],
  },
  'pcie5-server': {
    memory: [1100000000000, 'assumed', 'guess', 500000000000, 2200000000000],
    copyBandwidth: [48000000000, 'assumed', 'guess', 24000000000, 57000000000],
    memoryBandwidth: [600000000000, 'assumed', 'guess', 300000000000, 920000000000],
    gpusPerUplink: [2, 'assumed', 'guess', 1, 4],
  },
  workstation: {
    memory: [137000000000, 'assumed', 'guess', 68000000000, 550000000000],
    copyBandwidth: [22000000000, 'assumed', 'guess', 10000000000, 26000000000],
    memoryBandwidth: [80000000000, 'assumed', 'guess', 50000000000, 400000000000],
    gpusPerUplink: [1, 'assumed', 'guess', 1, 2],
  },
  'aws-p3dn': {
    memory: [825000000000, 'stated', 'clouds'],
    copyBandwidth: [11000000000, 'assumed', 'guess', 8000000000, 13000000000],
    memoryBandwidth: [230000000000, 'assumed', 'guess', 150000000000, 256000000000],
    gpusPerUplink: [2, 'assumed', 'guess', 1, 4],
  },
  'aws-p4': {
    memory: [1237000000000, 'stated', 'clouds'],
    copyBandwidth: [24000000000, 'assumed', 'like-a100', 18000000000, 27000000000],
    memoryBandwidth: [280000000000, 'assumed', 'guess', 200000000000, 410000000000],
    gpusPerUplink: [2, 'assumed', 'guess', 1, 2],
  },
  'aws-p5': {
    memory: [2199000000000, 'stated', 'aws'],
    copyBandwidth: [48000000000, 'assumed', 'like-h100', 38000000000, 55000000000],
    memoryBandwidth: [460000000000, 'assumed', 'guess', 300000000000, 614000000000],
    gpusPerUplink: [1, 'assumed', 'guess', 1, 2],
  },
  'aws-g5': {
    memory: [825000000000, 'stated', 'clouds'],
    copyBandwidth: [20000000000, 'assumed', 'guess', 10000000000, 26000000000],
    memoryBandwidth: [300000000000, 'assumed', 'guess', 200000000000, 410000000000],
    gpusPerUplink: [2, 'assumed', 'guess', 1, 4],
  },
  'aws-g6e': {
    memory: [1649000000000, 'stated', 'clouds'],
    copyBandwidth: [20000000000, 'assumed', 'guess', 10000000000, 26000000000],
    memoryBandwidth: [400000000000, 'assumed', 'guess', 200000000000, 614000000000],
    gpusPerUplink: [2, 'assumed', 'guess', 1, 4],
  },
  'azure-nd-a100': {
    memory: [966000000000, 'stated', 'clouds'],
    copyBandwidth: [26300000000, 'measured', 'azure'],
    memoryBandwidth: [330000000000, 'assumed', 'guess', 200000000000, 410000000000],
    gpusPerUplink: [2, 'assumed', 'guess', 1, 2],
  },
  'azure-ndm-a100': {
    memory: [2040000000000, 'stated', 'clouds'],
    copyBandwidth: [26300000000, 'measured', 'azure'],
    memoryBandwidth: [330000000000, 'assumed', 'guess', 200000000000, 410000000000],
    gpusPerUplink: [2, 'assumed', 'guess', 1, 2],
  },
  'azure-nd-h100': {
    memory: [2040000000000, 'stated', 'azure-docs'],
    copyBandwidth: [51000000000, 'measured', 'azure'],
    memoryBandwidth: [500000000000, 'assumed', 'guess', 350000000000, 614000000000],
    gpusPerUplink: [1, 'assumed', 'guess', 1, 2],
  },
  'azure-nd-mi300x': {
    memory: [1986000000000, 'stated', 'azure-docs'],
    copyBandwidth: [48000000000, 'assumed', 'guess', 35000000000, 56000000000],
    memoryBandwidth: [500000000000, 'assumed', 'guess', 350000000000, 614000000000],
    gpusPerUplink: [1, 'assumed', 'guess', 1, 2],
  },
  'gcp-a2': {
    memory: [730000000000, 'stated', 'clouds'],
    copyBandwidth: [24000000000, 'assumed', 'like-a100', 15000000000, 27000000000],
    memoryBandwidth: [280000000000, 'assumed', 'guess', 180000000000, 410000000000],
    gpusPerUplink: [2, 'assumed', 'guess', 1, 2],
  },
  'gcp-a2-large': {
    memory: [1460000000000, 'stated', 'clouds'],
    copyBandwidth: [24000000000, 'assumed', 'like-a100', 15000000000, 27000000000],
    memoryBandwidth: [280000000000, 'assumed', 'guess', 180000000000, 410000000000],
    gpusPerUplink: [2, 'assumed', 'guess', 1, 2],
  },
  'gcp-a3': {
    memory: [2010000000000, 'stated', 'clouds'],
    copyBandwidth: [48000000000, 'assumed', 'like-h100', 38000000000, 55000000000],
    memoryBandwidth: [500000000000, 'assumed', 'guess', 350000000000, 614000000000],
    gpusPerUplink: [1, 'assumed', 'guess', 1, 2],
  },
  'gcp-a4': {
    memory: [3960000000000, 'stated', 'clouds'],
    copyBandwidth: [52000000000, 'assumed', 'guess', 40000000000, 60000000000],
    memoryBandwidth: [600000000000, 'assumed', 'guess', 400000000000, 717000000000],
    gpusPerUplink: [1, 'assumed', 'guess', 1, 2],
  },
  'oci-a100': {
    memory: [2199000000000, 'stated', 'clouds'],
    copyBandwidth: [24000000000, 'assumed', 'like-a100', 18000000000, 27000000000],
    memoryBandwidth: [380000000000, 'assumed', 'guess', 250000000000, 410000000000],
    gpusPerUplink: [2, 'assumed', 'guess', 1, 2],
  },
  'oci-h100': {
    memory: [2199000000000, 'stated', 'clouds'],
    copyBandwidth: [48000000000, 'assumed', 'like-h100', 38000000000, 55000000000],
    memoryBandwidth: [560000000000, 'assumed', 'guess', 400000000000, 614000000000],
    gpusPerUplink: [1, 'assumed', 'guess', 1, 2],
  },
  'oci-l40s': {
    memory: [1100000000000, 'stated', 'clouds'],
    copyBandwidth: [24000000000, 'assumed', 'guess', 12000000000, 28000000000],
    memoryBandwidth: [560000000000, 'assumed', 'guess', 400000000000, 614000000000],
    gpusPerUplink: [1, 'assumed', 'guess', 1, 2],
  },
};
