/** @file The framework of a run: the profile whose habits its name means. */
import { eraOf, type FrameworkEra, type FrameworkName, frameworks } from '../frameworks/index.ts';
import type { RunRow } from './run-row.ts';

interface FrameworkEntry {
  /** Names in the column `framework`. */
  readonly name: RegExp;
  /** Only for runs over a pipeline. */
  readonly pipelines?: true;
  readonly framework: FrameworkName;
  /** What is assumed where the named software is not the profile's own. */
  readonly as?: string;
  /** Habits of the named software that differ from the profile's. */
  readonly own?: Partial<FrameworkEra>;
}

const forked = 'bigscience-workshop/Megatron-DeepSpeed: forked from Megatron-LM of 2021, gradients added by the engine';
const intern =
  'InternLM, doc/en/install.md: flash-attention v1.0.5 with its xentropy, rotary and layer_norm, Apex 23.05';
const mosaic =
  'llm-foundry, scripts/train/benchmarking/submit_benchmarks.py: --attn_impl triton, low_precision_layernorm';

const mosaicLoss =
  'llm-foundry, llmfoundry/models/mpt/modeling_mpt.py: loss_fn fused_crossentropy, of flash-attn, not in place';

const bridge = 'Megatron-Bridge, src/megatron/bridge/perf_recipes/_common.py: cross_entropy_fusion_impl = "te"';

/** First match wins. */
const entries: readonly FrameworkEntry[] = [
  { name: /deepspeed zero-3/i, framework: 'deepspeed' },
  {
    name: /megatron-deepspeed/i,
    framework: 'megatron',
    own: { accumulation: { value: 'separate', source: forked, asOf: '2026-11' } },
  },
  {
    name: /nemo automodel/i,
    pipelines: true,
    framework: 'torchtitan',
    as: 'Automodel over a pipeline as torchtitan: both on torch.distributed.pipelining',
  },
  { name: /nemo automodel/i, framework: 'fsdp', as: 'Automodel as FSDP on PyTorch' },
  { name: /bridge/i, framework: 'nemo', own: { loss: { value: 'in-place', source: bridge, asOf: '2026-11' } } },
  { name: /nemo/i, framework: 'nemo' },
  { name: /megatron/i, framework: 'megatron' },
  { name: /torchtitan/i, framework: 'torchtitan' },
  { name: /deepspeed/i, framework: 'deepspeed' },
  { name: /nanotron/i, framework: 'nanotron' },
  {
    name: /llm-foundry|composer/i,
    framework: 'fsdp',
    own: {
      attention: { value: 'flash-1-triton', source: mosaic, asOf: '2026-11' },
      loss: { value: 'half', source: mosaicLoss, asOf: '2026-11' },
    },
  },
  { name: /fsdp/i, framework: 'fsdp' },
  {
    name: /internevo|internlm/i,
    framework: 'deepspeed',
    as: 'InternEvo as PyTorch with a sharded optimizer and the kernels of flash-attn 1.0.5',
    own: {
      attention: { value: 'flash-1', source: intern, asOf: '2026-11' },
      elementwise: { value: 'flash-attn', source: intern, asOf: '2026-11' },
      loss: { value: 'half', source: intern, asOf: '2026-11' },
    },
  },
];

/** The profile of a run and the habits of its year. */
export interface FrameworkOfRun {
  readonly framework: FrameworkName;
  readonly era: FrameworkEra;
  readonly assumed: readonly string[];
}

/** The framework of a run; one that is not known is priced with the default profile, and the row says so. */
export function frameworkOf(row: RunRow): FrameworkOfRun {
  const entry = entries.find(({ name, pipelines }) => name.test(row.framework) && (!pipelines || (row.pp ?? 1) > 1));
  const framework = entry?.framework ?? 'meshwright';
  const said = row.framework === '' ? 'not stated' : row.framework;
  return {
    framework,
    era: { ...eraOf(frameworks[framework], row.year), ...entry?.own },
    assumed: [
      ...(entry === undefined ? [`framework: ${said}, priced as the default profile`] : []),
      ...(entry?.as === undefined ? [] : [`framework: ${entry.as}`]),
      ...(row.year === undefined ? ['year: the newest releases'] : []),
    ],
  };
}
