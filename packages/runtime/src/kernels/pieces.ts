/** @file Copies: of rows of one piece of the sequence (its first dim), out of the whole or into it, and into another type. */
import { elementsOf, type Tensor } from './tensor.ts';

/** y = x; the type of y rounds. */
export function cast(x: Tensor, y: Tensor): void {
  const count = elementsOf(y);
  for (let index = 0; index < count; index++) y.data[index] = x.data[index]!;
}

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
