/** @file Residual additions and dropout. A mask holds 1 where the value stays; what stays is scaled by 1 / (1 - p). */
import { mix, uniform } from '../numbers/hash.ts';
import { type DropoutDraw, elementsOf, rowsOf, sizeAt, type Tensor } from './tensor.ts';

/** y = branch + biases + residual. */
export function add(
  branch_RH: Tensor,
  biases_H: readonly (Tensor | undefined)[],
  residual_RH: Tensor,
  y_RH: Tensor,
): void {
  const R = rowsOf(branch_RH);
  const H = sizeAt(branch_RH, -1);
  const [branch, residual, y] = [branch_RH.data, residual_RH.data, y_RH.data];
  const shift_H = new Float64Array(H);
  for (const bias of biases_H) {
    if (bias) for (let h = 0; h < H; h++) shift_H[h]! += bias.data[h]!;
  }
  for (let r = 0; r < R; r++) {
    for (let h = 0; h < H; h++) y[r * H + h] = branch[r * H + h]! + shift_H[h]! + residual[r * H + h]!;
  }
}

/** y = x + bias, in place or out of place. */
export function addBias(x_RH: Tensor, bias_H: Tensor, y_RH: Tensor): void {
  const H = sizeAt(x_RH, -1);
  for (let index = 0; index < elementsOf(x_RH); index++) y_RH.data[index] = x_RH.data[index]! + bias_H.data[index % H]!;
}

/** y = dropout(branch + bias) + residual. */
export function dropoutAdd(
  reads: { branch_RH: Tensor; bias_H: Tensor | undefined; residual_RH: Tensor },
  writes: { y_RH: Tensor; mask_RH: Tensor },
  p: number,
  draw: DropoutDraw,
): void {
  const { branch_RH, bias_H, residual_RH } = reads;
  const H = sizeAt(branch_RH, -1);
  const [branch, bias, residual] = [branch_RH.data, bias_H?.data, residual_RH.data];
  const [y, mask] = [writes.y_RH.data, writes.mask_RH.data];
  const places = globalPlaces(branch_RH, draw);
  for (let index = 0; index < elementsOf(branch_RH); index++) {
    const stays = uniform(places.seed(index), places.place(index)) >= p;
    mask[index] = stays ? 1 : 0;
    const value = branch[index]! + (bias ? bias[index % H]! : 0);
    y[index] = (stays ? value / (1 - p) : 0) + residual[index]!;
  }
}

export function dropout(x_R: Tensor, y_R: Tensor, mask_R: Tensor, p: number, draw: DropoutDraw): void {
  const [x, y, mask] = [x_R.data, y_R.data, mask_R.data];
  const places = globalPlaces(x_R, draw);
  for (let index = 0; index < elementsOf(x_R); index++) {
    const stays = uniform(places.seed(index), places.place(index)) >= p;
    mask[index] = stays ? 1 : 0;
    y[index] = stays ? x[index]! / (1 - p) : 0;
  }
}

export function dropoutDx(dy_R: Tensor, mask_R: Tensor, dx_R: Tensor, p: number): void {
  const [dy, mask, dx] = [dy_R.data, mask_R.data, dx_R.data];
  for (let index = 0; index < elementsOf(dy_R); index++) dx[index] = mask[index] === 1 ? dy[index]! / (1 - p) : 0;
}

/** Where a local element stands in the whole job: its sample (dim `b`) and its place among the other global dims. */
function globalPlaces(tensor: Tensor, draw: DropoutDraw) {
  const decompose = (index: number): { sample: number; place: number } => {
    let rest = index;
    let place = 0;
    let stride = 1;
    let sample = 0;
    for (let dim = tensor.dims.length - 1; dim >= 0; dim--) {
      const { size, globalSize, origin, label, places } = tensor.dims[dim]!;
      const local = rest % size;
      rest = (rest - local) / size;
      if (label === 'b') {
        sample = draw.firstSample + local;
      } else {
        place += (places?.[local] ?? origin + local) * stride;
        stride *= globalSize;
      }
    }
    return { sample, place };
  };
  return {
    seed: (index: number) => mix(draw.seed, decompose(index).sample),
    place: (index: number) => decompose(index).place,
  };
}
