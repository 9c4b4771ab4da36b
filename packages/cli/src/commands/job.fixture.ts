/** The worked example as a job file: eight ranks as tensor 2, data 2, pipeline 2. */
export const toyJob: string = `name: toy
model: { kind: gpt2, layers: 2, hidden: 8, heads: 2, ffn: 32, vocab: 16, positions: 4, tied: true }
cluster: 1x dgx-h100
batch: { sequences: 4, length: 4 }
layout: { tp: 2, pp: 2, dp: 2, zero: 1, grad: fp32 }
`;

/** A job whose layout is searched. */
export const openJob: string = `model: llama-3.2-1b
cluster: 1x dgx-h100
batch: { sequences: 64, length: 2048 }
`;
