/** @file Names of the presets. */

/** Nodes that makers sell. */
export type BoxName =
  | 'dgx-1v'
  | 'dgx-2'
  | 'dgx-a100'
  | 'dgx-a100-40gb'
  | 'hgx-a800'
  | 'dgx-h100'
  | 'hgx-h800'
  | 'hgx-h20'
  | 'dgx-h200'
  | 'gh200'
  | 'dgx-b200'
  | 'dgx-b300'
  | 'gb200-nvl72'
  | 'gb300-nvl72'
  | 'mi250x-8gcd'
  | 'mi300x-8x'
  | 'mi325x-8x'
  | 'mi355x-8x';

/** Servers and workstations of cards. */
export type ServerName =
  | 'pcie-8x-a100'
  | 'bridge-4x-a100'
  | 'pcie-8x-h100'
  | 'bridge-8x-h100'
  | 'pcie-8x-l40s'
  | 'pcie-8x-a40'
  | 'pcie-8x-rtx-pro-6000'
  | 'rtx-workstation'
  | 'rtx-4090-8x'
  | 'rtx-3090-4x'
  | 'rtx-3090-4x-bridge'
  | 'rtx-3090-8x'
  | 'rtx-3090-8x-bridge'
  | 'rtx-5090-4x'
  | 'rtx-5090-8x';

/** Nodes of clouds. */
export type CloudName =
  | 'aws-p3dn'
  | 'aws-p4d'
  | 'aws-p4de'
  | 'aws-p5'
  | 'aws-p5e'
  | 'aws-p5en'
  | 'aws-p6-b200'
  | 'aws-p6e-gb200'
  | 'aws-g5'
  | 'aws-g6e'
  | 'azure-nd-a100'
  | 'azure-ndm-a100'
  | 'azure-nd-h100'
  | 'azure-nd-h200'
  | 'azure-nd-gb200'
  | 'azure-nd-mi300x'
  | 'gcp-a2-high'
  | 'gcp-a2-mega'
  | 'gcp-a2-ultra'
  | 'gcp-a3-high'
  | 'gcp-a3-mega'
  | 'gcp-a3-ultra'
  | 'gcp-a4'
  | 'gcp-a4x'
  | 'oci-a100'
  | 'oci-a100-80gb'
  | 'oci-h100'
  | 'oci-h200'
  | 'oci-b200'
  | 'oci-gb200'
  | 'oci-mi300x'
  | 'oci-l40s';

export type PresetName = BoxName | ServerName | CloudName;
