/** @file Servers and workstations of cards: PCIe, with or without bridges between neighbours. */
import type { PresetEntry } from './entry.ts';
import type { ServerName } from './names.ts';

const server = { gpusPerNode: 8, nic: 'eth-100', gpusPerNic: 8, intra: 'pcie' } as const satisfies Partial<PresetEntry>;
const desk = {
  gpusPerNode: 4,
  nic: 'eth-10',
  gpusPerNic: 4,
  host: 'workstation',
  intra: 'pcie',
} as const satisfies Partial<PresetEntry>;
const desk8 = { ...desk, gpusPerNode: 8, gpusPerNic: 8 } as const;
const bridge3090 = { kind: 'pairs', link: 'nvlink3-3090', gpus: 2 } as const;

/** Presets of servers and workstations. */
export const servers: Readonly<Record<ServerName, PresetEntry>> = {
  'pcie-8x-a100': {
    ...server,
    says: 'Server of 8 A100 cards, PCIe only',
    device: 'A100-80GB-PCIe',
    pcie: 'pcie4',
    host: 'pcie-server',
  },
  'bridge-4x-a100': {
    says: 'Server of 4 A100 cards, NVLink bridges between pairs',
    device: 'A100-80GB-PCIe',
    gpusPerNode: 4,
    intra: { kind: 'pairs', link: 'nvlink3-bridge', gpus: 2 },
    pcie: 'pcie4',
    nic: 'eth-100',
    gpusPerNic: 4,
    host: 'pcie-server',
  },
  'pcie-8x-h100': {
    ...server,
    says: 'Server of 8 H100 cards, PCIe only',
    device: 'H100-80GB-PCIe',
    pcie: 'pcie5',
    host: 'pcie5-server',
  },
  'bridge-8x-h100': {
    ...server,
    says: 'Server of 8 H100 cards, NVLink bridges between pairs',
    device: 'H100-80GB-PCIe',
    intra: { kind: 'pairs', link: 'nvlink4-bridge', gpus: 2 },
    pcie: 'pcie5',
    host: 'pcie5-server',
  },
  'pcie-8x-l40s': {
    ...server,
    says: 'Server of 8 L40S cards',
    device: 'L40S',
    pcie: 'pcie4',
    host: 'pcie-server',
  },
  'pcie-8x-a40': {
    ...server,
    says: 'Server of 8 A40 cards',
    device: 'A40',
    pcie: 'pcie4',
    host: 'pcie-server',
  },
  'pcie-8x-rtx-pro-6000': {
    ...server,
    says: 'Server of 8 RTX PRO 6000 cards',
    device: 'RTX-PRO-6000-Server',
    pcie: 'pcie5',
    host: 'pcie5-server',
  },
  'rtx-workstation': {
    ...desk,
    says: 'Workstation of 4 RTX 4090, exchanges through the host',
    device: 'RTX-4090',
    pcie: 'pcie4-host',
  },
  'rtx-4090-8x': {
    ...desk8,
    says: 'Box of 8 RTX 4090, exchanges through the host',
    device: 'RTX-4090',
    pcie: 'pcie4-host',
  },
  'rtx-3090-4x': {
    ...desk,
    says: 'Workstation of 4 RTX 3090 without bridges',
    device: 'RTX-3090',
    pcie: 'pcie4-host',
  },
  'rtx-3090-4x-bridge': {
    ...desk,
    says: 'Workstation of 4 RTX 3090, NVLink bridges between pairs',
    device: 'RTX-3090',
    intra: bridge3090,
    pcie: 'pcie4-host',
  },
  'rtx-3090-8x': {
    ...desk8,
    says: 'Box of 8 RTX 3090 without bridges',
    device: 'RTX-3090',
    pcie: 'pcie4-host',
  },
  'rtx-3090-8x-bridge': {
    ...desk8,
    says: 'Box of 8 RTX 3090, NVLink bridges between pairs',
    device: 'RTX-3090',
    intra: bridge3090,
    pcie: 'pcie4-host',
  },
  'rtx-5090-4x': {
    ...desk,
    says: 'Workstation of 4 RTX 5090, exchanges through the host',
    device: 'RTX-5090',
    pcie: 'pcie5-host',
  },
  'rtx-5090-8x': {
    ...desk8,
    says: 'Box of 8 RTX 5090, exchanges through the host',
    device: 'RTX-5090',
    pcie: 'pcie5-host',
  },
};
