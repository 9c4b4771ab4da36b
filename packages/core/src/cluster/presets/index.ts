/** @file The presets: which device, links and host each kind of node has. Numbers come from the generated tables. */
import type { DeviceName } from '../fit-types.ts';
import { boxes } from './boxes.ts';
import { clouds } from './clouds.ts';
import type { PresetEntry } from './entry.ts';
import type { PresetName } from './names.ts';
import { servers } from './servers.ts';

export type { PresetName } from './names.ts';

/** Every preset by name. */
export const presets: Readonly<Record<PresetName, PresetEntry>> = { ...boxes, ...servers, ...clouds };

/** Names of the presets, in the order of a list for people: boxes, servers and workstations, clouds. */
export const presetNames: readonly PresetName[] = Object.keys(presets) as PresetName[];

/** Nodes of devices that are a variant of the preset's. */
const variants: Readonly<Partial<Record<DeviceName, PresetName>>> = {
  'H100-96GB-SXM': 'dgx-h100',
  'V100-16GB-SXM': 'dgx-1v',
};

/** The preset that a device is usually found in: the first one that has it. */
export const presetOfDevice = (device: DeviceName): PresetName | undefined =>
  variants[device] ?? presetNames.find((name) => presets[name].device === device);
