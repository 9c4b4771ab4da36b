/** @file Rows of one piece of the sequence, copied out of the whole or into it. The sequence is the first dim. */
import { elementsOf, type Tensor } from './tensor.ts';

/** y = the rows of `piece` of x. */
export function slice(x_SR: Tensor, y_TR: Tensor, piece: number): void {
  const count = elementsOf(y_TR);
  for (let index = 0; index < count; index++) y_TR.data[index] = x_SR.data[piece * count + index]!;
}

/** The rows of `piece` of y = x; the others stay. */
export function place(x_TR: Tensor, y_SR: Tensor, piece: number): void {
  const count = elementsOf(x_TR);
  for (let index = 0; index < count; index++) y_SR.data[piece * count + index] = x_TR.data[index]!;
}
