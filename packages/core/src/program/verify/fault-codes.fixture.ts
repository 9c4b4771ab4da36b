import type { Code } from '../../errors/index.ts';
import type { Fault } from '../faults.ts';

/** The code that each planted fault must be refused with. */
export const faultCodes: Readonly<Record<Fault, Code>> = {
  'norm-gradients-not-summed': 'GRADIENT_NOT_SUMMED',
  'tied-counted-twice': 'NORM_COUNTED_TWICE',
  'tied-not-summed': 'TIED_NOT_SUMMED',
  'mean-over-data': 'MEAN_NOT_ALLOWED',
  'stale-weights': 'WEIGHTS_NOT_GATHERED',
  'bias-before-sum': 'BIAS_BEFORE_SUM',
};
