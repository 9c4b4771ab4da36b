import type { Quantity } from '@meshwright/core/explain';
import { percent, significant, whole } from './numbers.ts';

/** A value in the unit that people use for it. */
export function amountOf(value: number, unit: Quantity['unit']): string {
  switch (unit) {
    case 'bytes':
      return `${significant(value / 2 ** 30)} GiB`;
    case 'seconds':
      return value < 1 ? `${significant(value * 1e3)} ms` : `${significant(value)} s`;
    case 'share':
      return `${percent(value)} %`;
    case 'tokens':
      return `${whole(value)} tokens`;
    case 'bytesPerSecond':
      return `${significant(value / 1e9)} GB/s`;
    case 'flopsPerSecond':
      return `${significant(value / 1e12)} TFLOP/s`;
    case 'count':
      return Number.isInteger(value) ? whole(value) : significant(value);
  }
}
