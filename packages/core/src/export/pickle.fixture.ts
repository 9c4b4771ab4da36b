/** A second reading of pickles, of all opcodes that PyTorch's memory viewer knows and we write. */

/** The value of a pickle. Throws at opcodes that it does not know. */
export function unpickle(bytes: Uint8Array): unknown {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const stack: unknown[] = [];
  const marks: number[] = [];
  const memo: unknown[] = [];
  let at = 0;
  const uint32 = (): number => {
    at += 4;
    return view.getUint32(at - 4, true);
  };
  const sinceMark = (): unknown[] => stack.splice(marks.pop() ?? 0);
  const steps: Readonly<Record<string, () => void>> = {
    '\x80': () => void (at += 1),
    '(': () => void marks.push(stack.length),
    N: () => void stack.push(null),
    '\x88': () => void stack.push(true),
    '\x89': () => void stack.push(false),
    K: () => void stack.push(view.getUint8(at++)),
    M: () => {
      stack.push(view.getUint16(at, true));
      at += 2;
    },
    J: () => {
      stack.push(view.getInt32(at, true));
      at += 4;
    },
    '\x8a': () => {
      if (view.getUint8(at) !== 8) throw new Error('a long of another length.');
      stack.push(Number(view.getBigInt64(at + 1, true)));
      at += 9;
    },
    G: () => {
      stack.push(view.getFloat64(at, false));
      at += 8;
    },
    X: () => {
      const length = uint32();
      stack.push(new TextDecoder().decode(bytes.subarray(at, at + length)));
      at += length;
    },
    ']': () => void stack.push([]),
    e: () => {
      const items = sinceMark();
      (stack.at(-1) as unknown[]).push(...items);
    },
    '}': () => void stack.push({}),
    u: () => {
      const items = sinceMark();
      const target = stack.at(-1) as Record<string, unknown>;
      for (let index = 0; index < items.length; index += 2) target[String(items[index])] = items[index + 1];
    },
    '\x86': () => void stack.push(stack.splice(-2)),
    r: () => void (memo[uint32()] = stack.at(-1)),
    q: () => void (memo[view.getUint8(at++)] = stack.at(-1)),
    h: () => void stack.push(memo[view.getUint8(at++)]),
    j: () => void stack.push(memo[uint32()]),
  };
  for (;;) {
    const code = String.fromCharCode(view.getUint8(at++));
    if (code === '.') return stack.pop();
    const step = steps[code];
    if (step === undefined) throw new Error(`opcode ${code.charCodeAt(0)} at ${at - 1}`);
    step();
  }
}
