import type { DeviceName, HostName, NicName, PcieName, SwitchName } from '../fit-types.ts';

/** One kind of node: what it is made of, by the names of the tables of data/hardware.json. */
export interface PresetEntry {
  /** For lists: whose machine it is. */
  readonly says: string;
  readonly device: DeviceName;
  readonly gpusPerNode: number;
  /** Nodes when no count is given: a rack for NVL72, 1 otherwise. */
  readonly nodes?: number;
  /** The fast domain: the whole node unless `gpus` says otherwise; `pcie` where there is none. */
  readonly intra:
    | { readonly kind: 'switch' | 'mesh' | 'pairs'; readonly link: SwitchName; readonly gpus: number }
    | 'pcie';
  readonly pcie: PcieName;
  readonly nic: NicName;
  /** Devices that share one card's rate. */
  readonly gpusPerNic: number;
  readonly host: HostName;
  /** Each card hangs on a leaf of its own. Absent: no. */
  readonly rails?: boolean;
}

/** The node with all its devices behind one switch of `link`. */
export const switched = (link: SwitchName, gpus: number): Exclude<PresetEntry['intra'], 'pcie'> => ({
  kind: 'switch',
  link,
  gpus,
});
