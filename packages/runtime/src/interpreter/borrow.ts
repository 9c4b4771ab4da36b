/** @file Memory of an exchange on its way: of the engine's, like that of buffers, and given back when the exchange is over. */
import type { DType } from '@meshwright/core/tensor';
import type { Engine } from '../kernels/engine.ts';
import type { Elements } from '../kernels/tensor.ts';

export interface Borrowed {
  /** With anything in it. */
  readonly create: (length: number) => Elements;
  readonly giveBack: () => void;
}

export function borrowFrom(engine: Engine, dtype: DType): Borrowed {
  const held: Elements[] = [];
  return {
    create: (length) => {
      const elements = engine.createElements(dtype, length);
      held.push(elements);
      return elements;
    },
    giveBack: () => {
      for (const elements of held) engine.release(elements);
      held.length = 0;
    },
  };
}
