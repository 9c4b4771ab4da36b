import type { ClusterSpec } from '@meshwright/core/cluster';
import { compileProgram } from '@meshwright/core/compile';
import { parseLayoutString, readJob } from '@meshwright/core/io';
import { completeLayout, equalCosts } from '@meshwright/core/layout';
import type { Program } from '@meshwright/core/program';

/** What figures are drawn from. */
export interface Scene {
  readonly program: Program;
  readonly cluster: ClusterSpec;
}

/** The worked example: GPT-2 with 2 layers of hidden 8, 4 sequences of 4 tokens. */
export const workedText: string = `
name: toy
model: { kind: gpt2, layers: 2, hidden: 8, heads: 2, ffn: 32, vocab: 16, positions: 4, tied: true }
cluster: 1x dgx-h100
batch: { sequences: 4, length: 4 }
`;

/** The lesson: eight GPUs in two nodes of four, and a model that splits eight ways on every axis. */
export const lessonText: string = `
name: lesson
model: { kind: gpt2, layers: 8, hidden: 64, heads: 8, vocab: 512, positions: 32, tied: false }
cluster: { preset: dgx-h100, nodes: 2, gpusPerNode: 4 }
batch: { sequences: 16, length: 32 }
`;

/** Large enough that GPUs compute most of the time. */
export const llamaText: string = `
name: llama-3.1-8b
model: llama-3.1-8b
cluster: { preset: dgx-h100, nodes: 2, gpusPerNode: 4 }
batch: { sequences: 16, length: 8192 }
`;

/** The scene of a job under a layout in the short form. Throws when it is not legal. */
export function sceneOf(text: string, layout: string): Scene {
  const { job, issues } = readJob(text, 'scene.yaml');
  if (!job) throw new Error(JSON.stringify(issues));
  const request = { ...job.layout, ...parseLayoutString(layout).layout };
  const completed = completeLayout(request, job, equalCosts(job.model.layers.length));
  const wrong = completed.issues.filter((each) => each.severity === 'error');
  if (wrong.length > 0) throw new Error(JSON.stringify(wrong));
  return { program: compileProgram(job, completed.layout), cluster: job.cluster };
}
