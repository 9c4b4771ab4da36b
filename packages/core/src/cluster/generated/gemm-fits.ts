// Written by bench/fit.mjs from data/. Do not edit: change the data and run it again.
import type { GemmFitRow, SharedFit } from '../fit-types.ts';

export const gemmFits: readonly GemmFitRow[] = [
  {
    gpu: 'A100-SXM',
    dtype: 'bf16',
    source: 'aic-trtllm-1.0.0',
    fit: { efficiency: 0.895, fillK: 133, start: 0.00000773, tileFactors: [1, 0.866, 0.865], quantise: 0 },
  },
  {
    gpu: 'A100-PCIe',
    dtype: 'bf16',
    source: 'simumax-a100-pcie',
    fit: { efficiency: 0.771, fillK: 125, start: 0.000001, tileFactors: [1, 0.72, 0.72], quantise: 0 },
  },
  {
    gpu: 'H100-SXM',
    dtype: 'bf16',
    source: 'aic-trtllm-1.3.0rc20',
    fit: { efficiency: 0.835, fillK: 135, start: 0.00000242, tileFactors: [1, 0.996, 0.766], quantise: 0 },
  },
  {
    gpu: 'H100-SXM',
    dtype: 'fp8',
    source: 'aic-trtllm-1.3.0rc20',
    fit: { efficiency: 0.812, fillK: 380, start: 0.0000109, tileFactors: [1, 1, 0.992], quantise: 2.45 },
  },
  {
    gpu: 'H200-SXM',
    dtype: 'bf16',
    source: 'aic-trtllm-1.3.0rc20',
    fit: { efficiency: 0.824, fillK: 113, start: 0.0000022, tileFactors: [1, 0.993, 0.86], quantise: 0 },
  },
  {
    gpu: 'H200-SXM',
    dtype: 'fp8',
    source: 'aic-trtllm-1.3.0rc20',
    fit: { efficiency: 0.802, fillK: 326, start: 0.0000112, tileFactors: [1, 1, 0.992], quantise: 2.93 },
  },
  {
    gpu: 'B200-SXM',
    dtype: 'bf16',
    source: 'aic-trtllm-1.3.0rc20',
    fit: { efficiency: 0.709, fillK: 21, start: 0.00000233, tileFactors: [1, 0.965, 0.809], quantise: 0 },
  },
  {
    gpu: 'B200-SXM',
    dtype: 'fp8',
    source: 'aic-trtllm-1.3.0rc20',
    fit: { efficiency: 0.713, fillK: 129, start: 0.0000147, tileFactors: [1, 0.955, 0.851], quantise: 2.57 },
  },
  {
    gpu: 'B300-SXM',
    dtype: 'bf16',
    source: 'aic-trtllm-1.3.0rc20',
    fit: { efficiency: 0.753, fillK: 0, start: 0.00000206, tileFactors: [1, 0.967, 0.81], quantise: 0 },
  },
  {
    gpu: 'B300-SXM',
    dtype: 'fp8',
    source: 'aic-trtllm-1.3.0rc20',
    fit: { efficiency: 0.791, fillK: 171, start: 0.0000148, tileFactors: [1, 0.95, 0.95], quantise: 2.6 },
  },
  {
    gpu: 'GB200',
    dtype: 'bf16',
    source: 'aic-trtllm-1.3.0rc20',
    fit: { efficiency: 0.667, fillK: 0, start: 0.00000243, tileFactors: [1, 0.97, 0.884], quantise: 0 },
  },
  {
    gpu: 'GB200',
    dtype: 'fp8',
    source: 'aic-trtllm-1.3.0rc20',
    fit: { efficiency: 0.658, fillK: 150, start: 0.0000152, tileFactors: [1, 0.96, 0.96], quantise: 2.65 },
  },
  {
    gpu: 'GB300',
    dtype: 'bf16',
    source: 'aic-trtllm-1.3.0rc20',
    fit: { efficiency: 0.771, fillK: 19, start: 0.00000248, tileFactors: [1, 0.988, 0.758], quantise: 0 },
  },
  {
    gpu: 'GB300',
    dtype: 'fp8',
    source: 'aic-trtllm-1.3.0rc20',
    fit: { efficiency: 0.795, fillK: 171, start: 0.000015, tileFactors: [1, 0.943, 0.933], quantise: 2.72 },
  },
  {
    gpu: 'L40S',
    dtype: 'bf16',
    source: 'aic-trtllm-1.3.0rc20',
    fit: { efficiency: 0.609, fillK: 58, start: 0.000001, tileFactors: [1, 0.998, 0.998], quantise: 0 },
  },
  {
    gpu: 'L40S',
    dtype: 'fp8',
    source: 'aic-trtllm-1.3.0rc20',
    fit: { efficiency: 0.517, fillK: 71, start: 0.000001, tileFactors: [1, 0.998, 0.998], quantise: 1.12 },
  },
];

export const sharedFit: SharedFit = {
  accumulate: 0.951,
  grouped: 0.972,
  groupedAccumulate: 0.848,
  forwardEfficiency: 0.612,
  forwardWaves: 1.71,
  backwardEfficiency: 0.519,
  backwardWaves: 0.871,
};
