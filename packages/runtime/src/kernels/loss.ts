/** @file Cross-entropy over a vocabulary that may be cut: local maximum, sum of exponentials and label's logit, which the
 * program reduces between these kernels. Padding of the vocabulary takes no part.
 */
import { dimAt, elementsOf, rowsOf, type Tensor } from './tensor.ts';

export function rowmax(z_RV: Tensor, mx_R: Tensor): void {
  const R = rowsOf(z_RV);
  const { size: V, valid } = dimAt(z_RV, -1);
  const [z, mx] = [z_RV.data, mx_R.data];
  for (let r = 0; r < R; r++) {
    let top = -Infinity;
    for (let v = 0; v < valid; v++) top = Math.max(top, z[r * V + v]!);
    mx[r] = top;
  }
}

/** Sum of exponentials over the rank's rows of the vocabulary, and the label's logit where it is one of them. */
export function rowsumexp(
  reads: { z_RV: Tensor; mx_R: Tensor; labels_R: Tensor },
  writes: { se_R: Tensor; tl_R: Tensor },
): void {
  const R = rowsOf(reads.z_RV);
  const { size: V, valid, origin } = dimAt(reads.z_RV, -1);
  const [z, mx, labels] = [reads.z_RV.data, reads.mx_R.data, reads.labels_R.data];
  const [se, tl] = [writes.se_R.data, writes.tl_R.data];
  for (let r = 0; r < R; r++) {
    let sum = 0;
    for (let v = 0; v < valid; v++) sum += Math.exp(z[r * V + v]! - mx[r]!);
    se[r] = sum;
    const label = labels[r]! - origin;
    tl[r] = label >= 0 && label < valid ? z[r * V + label]! : 0;
  }
}

/** loss = scale * sum over tokens of -log probability of the label. */
export function nll(reads: { mx_R: Tensor; se_R: Tensor; tl_R: Tensor; scale: Tensor }, loss: Tensor): void {
  const [mx, se, tl] = [reads.mx_R.data, reads.se_R.data, reads.tl_R.data];
  let sum = 0;
  for (let r = 0; r < elementsOf(reads.mx_R); r++) sum += mx[r]! + Math.log(se[r]!) - tl[r]!;
  loss.data[0] = sum * reads.scale.data[0]!;
}

/** dz = scale * (probability - 1 at the label). */
export function crossEntropyDx(
  reads: { z_RV: Tensor; mx_R: Tensor; se_R: Tensor; labels_R: Tensor; scale: Tensor },
  dz_RV: Tensor,
): void {
  const R = rowsOf(reads.z_RV);
  const { size: V, valid, origin } = dimAt(reads.z_RV, -1);
  const [z, mx, se, labels] = [reads.z_RV.data, reads.mx_R.data, reads.se_R.data, reads.labels_R.data];
  const scale = reads.scale.data[0]!;
  const dz = dz_RV.data;
  for (let r = 0; r < R; r++) {
    const label = labels[r]! - origin;
    for (let v = 0; v < V; v++) {
      const probability = v < valid ? Math.exp(z[r * V + v]! - mx[r]!) / se[r]! : 0;
      dz[r * V + v] = scale * (probability - (v === label && v < valid ? 1 : 0));
    }
  }
}
