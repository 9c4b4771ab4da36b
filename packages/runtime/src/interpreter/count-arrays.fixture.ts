/** Counts the memory of arrays of numbers that are made anew, whoever makes them in this thread. */

const kinds = {
  Float32Array: 'floats',
  Float64Array: 'floats',
  Int32Array: 'wholes',
  Uint32Array: 'wholes',
  Uint16Array: 'wholes',
  Uint8Array: 'wholes',
} as const;
type Kind = keyof typeof kinds;

/** Bytes of arrays of numbers with a fraction, which tensors are made of, and of whole ones. */
export interface ArrayBytes {
  readonly floats: number;
  readonly wholes: number;
}

export interface CountedArrays {
  /** Since it was last asked. */
  readonly take: () => ArrayBytes;
  /** Ends counting. */
  readonly restore: () => void;
}

/** Begins to count. Views of memory that is there already do not count. */
export function countArrays(): CountedArrays {
  const bytes = { floats: 0, wholes: 0 };
  const restores = (Object.keys(kinds) as Kind[]).map((kind) => {
    const original = globalThis[kind];
    const { prototype } = original;
    const { slice, map } = prototype;
    const add = (made: { readonly byteLength: number }) => {
      bytes[kinds[kind]] += made.byteLength;
      return made;
    };
    const counted = new Proxy(original, {
      construct: (target, given: readonly unknown[]): object => {
        const made = Reflect.construct(target, given);
        const isView = given[0] instanceof ArrayBuffer || given[0] instanceof SharedArrayBuffer;
        return isView ? made : add(made);
      },
    });
    Object.assign(globalThis, { [kind]: counted });
    Object.assign(prototype, {
      slice(...given: unknown[]) {
        return add(Reflect.apply(slice, this, given));
      },
      map(...given: unknown[]) {
        return add(Reflect.apply(map, this, given));
      },
    });
    return () => {
      Object.assign(globalThis, { [kind]: original });
      Object.assign(prototype, { slice, map });
    };
  });
  return {
    take: () => {
      const taken = { ...bytes };
      Object.assign(bytes, { floats: 0, wholes: 0 });
      return taken;
    },
    restore: () => {
      for (const restore of restores) restore();
    },
  };
}
