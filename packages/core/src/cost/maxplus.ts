/** @file Block matrices in max-plus algebra: how the clocks of a rank move over one block of operations.
 *
 * A clock is the time at which a lane is free or a buffer is written. Because an operation starts at the maximum of what
 * it waits for and ends a fixed duration later, every clock after a block is a maximum of (clock before + constant):
 * a matrix product in (max, +). Products compose exactly, so a chunk of layers is one matrix.
 */

/** Clocks before a block: lanes, the input at the block's border, and weights that were gathered for it. */
export const ENTRY = { host: 0, compute: 1, tensor: 2, input: 3, own: 4, tied: 5 } as const;

/** Clocks after a block: lanes, the output at its border, its last operation, and the gradients that it completes. */
export const EXIT = { host: 0, compute: 1, tensor: 2, output: 3, end: 4, own: 5, tied: 6 } as const;

const COLUMNS = 6;
const ROWS = 7;

/** Entry `row * 6 + column`: seconds from an {@link ENTRY} clock to an {@link EXIT} clock; -Infinity where none leads. */
export type BlockMatrix = Float64Array;

export const emptyMatrix = (): BlockMatrix => new Float64Array(ROWS * COLUMNS).fill(Number.NEGATIVE_INFINITY);

/** A block that does nothing: lanes pass, the input is the output. */
export function identityMatrix(): BlockMatrix {
  const matrix = emptyMatrix();
  for (const index of [0, 1, 2, 3]) matrix[index * COLUMNS + index] = 0;
  return matrix;
}

export const entryOf = (matrix: BlockMatrix, exit: number, entry: number): number =>
  matrix[exit * COLUMNS + entry] ?? Number.NEGATIVE_INFINITY;

/** `first`, then `second`, whose input is the output of `first`. Both may read the same gathered weights. */
export function chain(first: BlockMatrix, second: BlockMatrix): BlockMatrix {
  const result = emptyMatrix();
  for (let row = 0; row < ROWS; row++) {
    for (let column = 0; column < COLUMNS; column++) {
      let best = column >= ENTRY.own ? entryOf(second, row, column) : Number.NEGATIVE_INFINITY;
      for (let through = 0; through <= ENTRY.input; through++) {
        const seconds = entryOf(second, row, through) + entryOf(first, through, column);
        if (seconds > best) best = seconds;
      }
      result[row * COLUMNS + column] = best;
    }
  }
  for (const row of [EXIT.own, EXIT.tied]) {
    for (let column = 0; column < COLUMNS; column++) {
      const before = entryOf(first, row, column);
      const at = row * COLUMNS + column;
      if (before > (result[at] ?? Number.NEGATIVE_INFINITY)) result[at] = before;
    }
  }
  return result;
}

/** The same block `count` times in a row, by squaring. */
export function chainPower(matrix: BlockMatrix, count: number): BlockMatrix {
  let result: BlockMatrix | undefined;
  let square = matrix;
  for (let rest = count; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = result === undefined ? square : chain(result, square);
    if (rest > 1) square = chain(square, square);
  }
  return result ?? identityMatrix();
}

/** First number of an exit's row in a matrix. */
export const rowOf = (exit: number): number => exit * COLUMNS;

/** The clock of the exit whose row is given, without gathered weights. For loops that cannot afford arrays. */
export const exitClock = (
  matrix: BlockMatrix,
  row: number,
  host: number,
  compute: number,
  tensor: number,
  input: number,
): number =>
  Math.max(
    (matrix[row] as number) + host,
    (matrix[row + 1] as number) + compute,
    (matrix[row + 2] as number) + tensor,
    (matrix[row + 3] as number) + input,
  );
