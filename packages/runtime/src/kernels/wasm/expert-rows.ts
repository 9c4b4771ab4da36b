/** @file Rows of experts: copies of tokens are put in the order of their experts, multiplied expert by expert, and put back. */
import { factorOf } from '../index.ts';
import { expertsOf, placesOf, startsOf } from '../rows.ts';
import { type KernelCall, readOf as r, rowsOf, sizeAt, type Tensor, writeOf as w } from '../tensor.ts';
import { lend, type Places, type Rows } from './places.ts';

const STEP = 4;

/** Products expert by expert: the rows of expert e are those from `starts[e]` to `starts[e + 1]`. */
interface Experts {
  readonly starts: Int32Array;
  readonly n: number;
  readonly k: number;
  /** The first byte of all weights, or of their gradients. */
  readonly weights: number;
}

function eachExpert(
  { starts, n, k, weights }: Experts,
  each: (row: number, rows: number, weights: number) => void,
): void {
  for (let e = 0; e + 1 < starts.length; e++) {
    const rows = starts[e + 1]! - starts[e]!;
    if (rows > 0) each(starts[e]!, rows, weights + STEP * e * n * k);
  }
}

const forward = ({ kernels, pack }: Places, experts: Experts, x: number, y: number): void =>
  eachExpert(experts, (row, rows, weights) => {
    const { n, k } = experts;
    kernels.gemm(rows, n, k, x + STEP * row * k, k, 1, weights, 1, k, y + STEP * row * n, n, 0, 0, pack);
  });

const backward = ({ kernels, pack }: Places, experts: Experts, dy: number, dx: number): void =>
  eachExpert(experts, (row, rows, weights) => {
    const { n, k } = experts;
    kernels.gemm(rows, k, n, dy + STEP * row * n, n, 1, weights, k, 1, dx + STEP * row * k, k, 0, 0, pack);
  });

/** Experts without a row have a gradient of zero. */
function gradients({ kernels, pack }: Places, experts: Experts, dy: number, x: number, dw: Tensor): void {
  if (!dw.adds) dw.data.fill(0);
  eachExpert(experts, (row, rows, weights) => {
    const { n, k } = experts;
    const from = [dy + STEP * row * n, 1, n, x + STEP * row * k, k, 1] as const;
    kernels.gemm(n, k, rows, ...from, weights, k, 1, 0, pack);
  });
}

/** Rows in the order of their tokens, put in that of their experts: where each one goes, and where each expert begins. */
function sorted(ri: Tensor, experts: number): { readonly places: Int32Array; readonly starts: Int32Array } {
  const starts = new Int32Array(experts + 1);
  for (const expert of ri.data) starts[expert + 1]! += 1;
  for (let e = 0; e < experts; e++) starts[e + 1]! += starts[e]!;
  return { places: placesOf(ri, experts), starts };
}

/** The experts of an operation, in the order in which its rows are sorted. */
function routed(places: Places, ri: Tensor, w_ENK: Tensor) {
  const [count, n, k] = [sizeAt(w_ENK, 0), sizeAt(w_ENK, 1), sizeAt(w_ENK, 2)];
  const order = sorted(ri, count);
  const experts: Experts = { starts: order.starts, n, k, weights: places.pointer(w_ENK.data) };
  return { experts, table: lend(places, order.places), rows: ri.data.length };
}

function groupedRows(places: Places) {
  const { kernels, pointer: at, borrow } = places;
  const gathered = (rows: number, width: number, from: Tensor, table: number): number => {
    const to = borrow(STEP * rows * width);
    kernels.scatterRows(rows, width, at(from.data), table, to);
    return to;
  };
  return {
    'grouped-gemm': (c) => {
      const { experts, table, rows } = routed(places, r(c, 2), r(c, 1));
      const y = borrow(STEP * rows * experts.n);
      forward(places, experts, gathered(rows, experts.k, r(c, 0), table), y);
      kernels.gatherRows(rows, experts.n, y, table, at(w(c, 0).data));
    },
    'grouped-gemm.dx': (c) => {
      const { experts, table, rows } = routed(places, r(c, 2), r(c, 1));
      const dx = borrow(STEP * rows * experts.k);
      backward(places, experts, gathered(rows, experts.n, r(c, 0), table), dx);
      kernels.gatherRows(rows, experts.k, dx, table, at(w(c, 0).data));
    },
    'grouped-gemm.dw': (c) => {
      const dw = w(c, 0);
      const { experts, table, rows } = routed(places, r(c, 2), dw);
      const dy = gathered(rows, experts.n, r(c, 0), table);
      gradients(places, experts, dy, gathered(rows, experts.k, r(c, 1), table), dw);
    },
  } as const satisfies Rows;
}

function sortedRows(places: Places) {
  const { kernels, pointer: at } = places;
  const expertsIn = (weights: Tensor, rc: Tensor): Experts => ({
    ...{ starts: startsOf(weights, rc), n: sizeAt(weights, 1), k: sizeAt(weights, 2), weights: at(weights.data) },
  });
  return {
    'expert-gemm': (c) => forward(places, expertsIn(r(c, 1), r(c, 2)), at(r(c, 0).data), at(w(c, 0).data)),
    'expert-gemm.dx': (c) => backward(places, expertsIn(r(c, 1), r(c, 2)), at(r(c, 0).data), at(w(c, 0).data)),
    'expert-gemm.dw': (c) => {
      const experts = expertsIn(w(c, 0), r(c, 2));
      gradients(places, experts, at(r(c, 0).data), at(r(c, 1).data), w(c, 0));
    },
    'row-bias': (c) => {
      const [starts, width] = [startsOf(r(c, 1), r(c, 2)), sizeAt(r(c, 1), 1)];
      const [x, y] = [at(r(c, 0).data), at(w(c, 0).data)];
      eachExpert({ starts, n: width, k: 1, weights: at(r(c, 1).data) }, (row, rows, bias) => {
        const from = STEP * row * width;
        kernels.addBias(rows, width, x + from, bias, factorOf(c), y + from);
      });
    },
    'row-bias.dw': (c) => {
      const [dy, db] = [at(r(c, 0).data), w(c, 0)];
      const [starts, width] = [startsOf(db, r(c, 1)), sizeAt(db, 1)];
      if (!db.adds) db.data.fill(0);
      eachExpert({ starts, n: width, k: 1, weights: at(db.data) }, (row, rows, sum) => {
        kernels.biasDw(rows, width, dy + STEP * row * width, sum, 1);
      });
    },
  } as const satisfies Rows;
}

/** Sums over the copies of a token, which lie in order or where a table says. */
function copyRows(places: Places) {
  const { kernels, pointer: at } = places;
  const maybe = (tensor: Tensor | undefined): number => (tensor ? at(tensor.data) : 0);
  const tableOf = (ri: Tensor, rows: Tensor): number => lend(places, placesOf(ri, expertsOf(rows)));
  const sum = (c: KernelCall, each: number, from: Tensor, table: number, weights: Tensor | undefined): void => {
    const to = w(c, 0);
    kernels.sumCopies(rowsOf(to), each, sizeAt(to, -1), at(from.data), table, maybe(weights), factorOf(c), at(to.data));
  };
  const sumDx = (c: KernelCall, each: number, table: number): void => {
    const [dy, copies, weights, dWeights] = [r(c, 0), c.reads[1], c.reads[2], c.writes[1]];
    const from = [at(dy.data), maybe(copies), table, maybe(weights)] as const;
    kernels.sumCopiesDx(rowsOf(dy), each, sizeAt(dy, -1), ...from, factorOf(c), at(w(c, 0).data), maybe(dWeights));
  };
  return {
    combine: (c) => sum(c, sizeAt(r(c, 0), -2), r(c, 0), 0, c.reads[1]),
    'combine.dx': (c) => sumDx(c, sizeAt(w(c, 0), -2), 0),
    unpermute: (c) => sum(c, sizeAt(r(c, 2), -1), r(c, 0), tableOf(r(c, 2), r(c, 0)), c.reads[1]),
    'unpermute.dx': (c) => sumDx(c, sizeAt(r(c, 3), -1), tableOf(r(c, 3), w(c, 0))),
    'dispatch.dx': (c) => sum(c, sizeAt(r(c, 0), -2), r(c, 0), 0, undefined),
    'permute.dx': (c) => sum(c, sizeAt(r(c, 1), -1), r(c, 0), tableOf(r(c, 1), r(c, 0)), undefined),
    permute: (c) => {
      const [x, ri, xs] = [r(c, 0), r(c, 1), w(c, 0)];
      const [each, order] = [sizeAt(ri, -1), placesOf(ri, expertsOf(xs))];
      const from = new Int32Array(order.length);
      for (const [copy, place] of order.entries()) from[place] = Math.floor(copy / each);
      kernels.gatherRows(from.length, sizeAt(x, -1), at(x.data), lend(places, from), at(xs.data));
    },
    weigh: (c) =>
      kernels.weighRows(rowsOf(r(c, 0)), sizeAt(r(c, 0), -1), at(r(c, 0).data), at(r(c, 1).data), at(w(c, 0).data)),
    'weigh.dx': (c) => {
      const [R, H, dxw] = [rowsOf(r(c, 1)), sizeAt(r(c, 1), -1), at(r(c, 0).data)];
      kernels.dotRows(R, H, dxw, at(r(c, 1).data), at(w(c, 1).data));
      kernels.weighRows(R, H, dxw, at(r(c, 2).data), at(w(c, 0).data));
    },
    'expert-bias': (c) => {
      const [x, b, ri, out] = [r(c, 0), r(c, 1), r(c, 2), at(w(c, 0).data)];
      const [width, from, biases] = [sizeAt(x, -1), at(x.data), at(b.data)];
      for (const [row, expert] of ri.data.entries()) {
        const place = STEP * row * width;
        kernels.addBias(1, width, from + place, biases + STEP * expert * width, factorOf(c), out + place);
      }
    },
    'expert-bias.dw': (c) => {
      const [dy, ri, db] = [r(c, 0), r(c, 1), w(c, 0)];
      const [width, from, sums] = [sizeAt(dy, -1), at(dy.data), at(db.data)];
      if (!db.adds) db.data.fill(0);
      for (const [row, expert] of ri.data.entries()) {
        kernels.biasDw(1, width, from + STEP * row * width, sums + STEP * expert * width, 1);
      }
    },
  } as const satisfies Rows;
}

/** Kernels of these rows that add into a result whose `adds` is set. */
export const addingExpertKernels = ['grouped-gemm.dw', 'expert-gemm.dw', 'row-bias.dw', 'expert-bias.dw'] as const;

export const expertRows = (places: Places): Rows => ({
  ...groupedRows(places),
  ...sortedRows(places),
  ...copyRows(places),
});
