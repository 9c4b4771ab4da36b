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
  DEVICE_WITHOUT_NODE: {
    meaning: 'A device is named without a preset, and no preset has it: how its links are laid is not modelled.',
    fix: 'Give a preset whose node is like it, with the rates of the links under intra and inter.',
  },
  TIERS_NOT_NESTED: {
    meaning: 'The levels of switches do not hold each other in whole blocks.',
    fix: 'Give levels from the leaves outward, each with a multiple of the nodes of the one before.',
  },
  NODES_NOT_ALIKE: {
    meaning: 'Groups of nodes cannot be one mesh: their nodes or link domains differ in size, or share no collectives.',
    fix: 'Make the groups alike with gpusPerNode and intra, or plan them apart.',
  },
  DEGRADED_NOT_MODELLED: {
    meaning: 'A missing link or device leaves no mesh of equal nodes.',
    fix: 'Take the whole node out, or give nodes with fewer devices.',
  },
  LINK_MISSING: {
    meaning: 'A link that is to be slow or gone is not there, or nothing can stand in for it.',
    fix: 'Name a link of the cluster, or give a share of its speed above 0.',
  },
  DEVICE_MISSING: {
    meaning: 'A device that is to be slow is not there.',
    fix: 'Count devices from 0, through all nodes.',
  },
} as const;
