/** @file Initial weights: a hash of the Hugging Face tensor's name and the element's index in it, never of the rank. */
import { assertInvariant } from '@meshwright/core/errors';
import type { Bucket } from '@meshwright/core/program';
import { type State, stateOf } from '../checkpoint/manifest.ts';
import { ownedWeights } from '../interpreter/buckets.ts';
import { deposit, valuesOf } from '../interpreter/cells.ts';
import type { Machine, RunOptions } from '../interpreter/machine.ts';
import { hashText, mix, normal } from '../numbers/hash.ts';
import { elementFinder, ownedBuffer, ownedDims, ownedRanges, type TensorElement } from '../place/parameters.ts';

/** Gains of norms lie around 1, everything else around 0. */
function initialValue({ tensor, index }: TensorElement, seed: number, deviation: number): number {
  const isGain = tensor.shape.length === 1 && tensor.name.endsWith('weight');
  return (isGain ? 1 : 0) + deviation * normal(mix(seed, hashText(tensor.name)), index);
}

/** Fills what the rank owns of its weights and the optimizer's state; the rest stays NaN until it is gathered. */
export function fillWeights(machine: Machine): void {
  for (const bucket of machine.expanded.list.buckets) {
    const values = initialShard(machine, bucket, 'weights');
    for (const { instance } of machine.lifetimes.residents) {
      const { declaration } = instance;
      if (declaration.bucket !== bucket.name) continue;
      const operand = { instance, dims: declaration.dims };
      if (declaration.role === 'weight') {
        const window = ownedWeights(machine, operand, bucket);
        deposit(window, values.subarray(0, valuesOf(window).length), false);
      } else if (declaration.role === 'optimizer') {
        const { cell } = machine.cells.window(operand);
        const state = stateOf(declaration);
        cell.data.set(state === 'weights' ? values : initialShard(machine, bucket, state));
      }
    }
  }
}

/** The rank's own elements of a bucket: of a checkpoint, given, or drawn; moments begin as 0, and so is padding. */
function initialShard(machine: Machine, bucket: Bucket, kind: State): Float64Array {
  const { seat, options, expanded } = machine;
  const dims = ownedDims(expanded.list, bucket);
  const state = ownedBuffer(expanded.list, bucket);
  assertInvariant(state !== undefined, () => `bucket ${bucket.name} has no state`);
  const window = machine.cells.window({ instance: { name: state.name, declaration: state }, dims: state.dims });
  const values = new Float64Array(window.cell.data.length);
  if (kind !== 'weights' && options.state === undefined) return values;
  for (const { view, viewFrom, from, length } of ownedRanges(bucket, dims, seat)) {
    const find = elementFinder(view, seat);
    for (let index = 0; index < length; index++) {
      const element = find(viewFrom + index);
      if (element) values[from + index] = startOf(element, kind, options);
    }
  }
  return values;
}

function startOf(element: TensorElement, kind: State, options: RunOptions): number {
  const { state, initial, seed, initialDeviation, adaptersBeginAtZero } = options;
  const { tensor, index } = element;
  const saved = state?.[tensor.name]?.states[kind]?.[index];
  if (saved !== undefined) return saved;
  if (kind !== 'weights') return 0;
  const given = initial[tensor.name]?.[index];
  if (given === undefined && adaptersBeginAtZero && tensor.name.endsWith('.lora_B.weight')) return 0;
  return given ?? initialValue(element, seed, initialDeviation);
}
