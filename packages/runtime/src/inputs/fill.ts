/** @file What the host writes into input buffers: tokens, labels, learning rate and the seed of the loss. */
import type { BufferDeclaration, Program } from '@meshwright/core/program';
import { expandList } from '@meshwright/core/program';
import type { Machine } from '../interpreter/machine.ts';
import { type Elements, globalPlacesOf } from '../kernels/tensor.ts';
import { localDimOf } from '../place/dims.ts';
import { corpusTokens } from '../tokens/corpus.ts';
import { rateAt } from '../train/rate.ts';
import { sampleTokens } from './samples.ts';

/** Writes an input buffer; anything else is left as it is. */
export function fillInput(machine: Machine, declaration: BufferDeclaration, data: Elements, microBatch: number): void {
  if (declaration.role !== 'input') return;
  switch (declaration.name) {
    case 'lr':
      data[0] = rateAt(machine.options.learningRate, machine.step);
      return;
    case 'scale':
      data[0] = machine.program.lossScale;
      return;
    default:
      fillTokens(machine, declaration, data, microBatch, declaration.name === 'labels' ? 1 : 0);
  }
}

/** Sample u * B + b of the step stands at batch place b of micro-batch u, B counted over the data axis. */
function fillTokens(
  machine: Machine,
  declaration: BufferDeclaration,
  data: Elements,
  microBatch: number,
  shift: number,
): void {
  const [sequence, batch] = declaration.dims.map((dim) => localDimOf(dim, machine.seat));
  if (sequence === undefined || batch === undefined) return;
  const { seed, vocabulary, corpus } = machine.options;
  const places = globalPlacesOf(sequence);
  const step = machine.validates ? 0 : machine.step;
  for (let b = 0; b < batch.size; b++) {
    const sample = microBatch * batch.globalSize + batch.origin + b;
    const tokens = corpus
      ? corpusTokens(corpus, seed, step, sample, sequence.globalSize)
      : sampleTokens(seed, step, sample, sequence.globalSize, vocabulary);
    for (let s = 0; s < sequence.size; s++) data[s * batch.size + b] = tokens[places[s]! + shift]!;
  }
}

/** Rows of the embedding, which tokens are drawn from; 0 for a program that embeds none. */
export function vocabularyOf(program: Program): number {
  for (const list of program.lists) {
    for (const { operation, reads } of expandList(program, list).operations) {
      if (operation.kind === 'compute' && operation.kernel === 'embedding') return reads[1]?.dims[0]?.size ?? 0;
    }
  }
  return 0;
}
