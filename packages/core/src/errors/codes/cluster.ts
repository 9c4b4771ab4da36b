/** Codes of clusters. */
export const cluster = {
  CLUSTER_UNREADABLE: {
    meaning: 'A cluster is neither NODESx PRESET nor a mapping.',
    fix: 'Write a preset such as 8x dgx-h100, or a mapping with nodes and preset.',
  },
  CLUSTER_PRESET_UNKNOWN: {
    meaning: 'A cluster preset of that name does not exist.',
    fix: 'Use one of the listed presets, or describe the node with gpu, intra and inter.',
  },
  GPU_UNKNOWN: {
    meaning: 'A device of that name does not exist.',
    fix: 'Use one of the listed devices, or describe it with like and its numbers.',
  },
  NODE_NOT_WHOLE: {
    meaning: 'Devices of a node cannot be grouped as the link domain or the network cards say.',
    fix: 'Use a domain that divides the node or holds whole nodes, and cards shared by equal numbers of devices.',
  },
} as const;
