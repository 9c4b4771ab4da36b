import { describe, expect, it } from 'vitest';
import { program as programCodes } from '../../errors/codes/program.ts';
import { type Code, renderIssue } from '../../errors/index.ts';
import { toyProgram } from '../fixtures/toy.fixture.ts';
import type { Collective, Operation, Program } from '../types.ts';
import {
  changeBuffer,
  changeLine,
  changeList,
  changeOperation,
  changeTemplate,
  changeView,
  moveLine,
} from './change.fixture.ts';
import { verifyProgram } from './index.ts';

const toy = toyProgram();
const reads = (operation: Operation, at: number, name: string): Operation => ({
  ...operation,
  reads: operation.reads.map((read, index) => (index === at ? name : read)),
});
const asCollective = (operation: Operation, change: Partial<Collective>): Operation =>
  operation.kind === 'collective' ? { ...operation, ...change } : operation;
const whole = (label: string, size: number) => ({ label, size });
const cut = (label: string, size: number, ...axes: readonly string[]) => ({ label, size, cut: axes });
const b = cut('b', 2, 'data');

/** What is broken, and the first thing that is said of it. */
const cases: readonly (readonly [code: Code, says: string, program: Program])[] = [
  [
    'PROGRAM_NAME_UNKNOWN',
    'P0:4: Buffer n7 is named: P0 declares no such buffer.',
    changeTemplate(toy, 'F.layer', 1, (each) => [reads(each, 0, 'n7')]),
  ],
  ['PROGRAM_ORDER_WRONG', 'P0:6: Line 6 needs line 9: it is not earlier.', lateNeed()],
  [
    'PROGRAM_OPERANDS_WRONG',
    'F.layer:3 compute gemm: gemm reads n1g: its row has x w bias?.',
    changeTemplate(toy, 'F.layer', 3, (each) => [{ ...each, reads: ['n1g'] }]),
  ],
  [
    'PROGRAM_LANE_WRONG',
    'F.layer:2 all-gather over tensor: all-gather over tensor stands on lane compute: it belongs on tensor or control.',
    changeTemplate(toy, 'F.layer', 2, (each) => [{ ...each, lane: 'compute' }]),
  ],
  [
    'PROGRAM_ALGORITHM_WRONG',
    'F.layer:2 all-gather over tensor: Trees run all-reduces: this is another kind, all-gather.',
    changeTemplate(toy, 'F.layer', 2, (each) => [asCollective(each, { algorithm: 'tree' })]),
  ],
  [
    'PROGRAM_ALGORITHM_WRONG',
    'F.layer:2 all-gather over tensor: 3 of 2 members share a node: they do not fill nodes.',
    changeTemplate(toy, 'F.layer', 2, (each) => [asCollective(each, { algorithm: 'hierarchical', inner: 3 })]),
  ],
  [
    'PROGRAM_ALGORITHM_WRONG',
    'F.layer:2 all-gather over tensor: A hierarchical all-gather names no members of a node.',
    changeTemplate(toy, 'F.layer', 2, (each) => [asCollective(each, { algorithm: 'hierarchical' })]),
  ],
  [
    'PROGRAM_CALLS_WRONG',
    'lists: Block 0 passes backward 0 times for micro-batch 1: it must pass once.',
    changeLine(toy, 'P0', 13, () => []),
  ],
  [
    'BACKWARD_DIFFERS',
    'B.layer: The backward of a layer adds 2 times to the gradient of proj.b: its forward uses it 1 times.',
    changeTemplate(toy, 'B.layer', 13, (each) => [each, { ...each }]),
  ],
  [
    'READ_BEFORE_WRITE',
    'F.layer:2 all-gather over tensor: n2[0,0] is read: no earlier operation of P0 writes it.',
    changeTemplate(toy, 'F.layer', 2, (each) => [reads(each, 0, 'n2')]),
  ],
  ['SHAPES_DISAGREE', 'gemm takes n with one size: in f[0,0] it is 24, in fc1.w in W.body 32.', sized('f', 24)],
  ['CUTS_DISAGREE', 'gemm takes n with one cut: in f[0,0] it is whole, in fc1.w in W.body cut over tensor.', uncut()],
  [
    'DIM_NOT_WHOLE',
    'attention needs s whole: qkv[0,0] is cut over tensor.',
    changeBuffer(toy, 'qkv', { dims: [cut('s', 4, 'tensor'), b, whole('qkv', 24)] }),
  ],
  [
    'PARTIAL_READ',
    'F.layer:7 compute add: a[0,0] is read as complete: it is partial (sum) over tensor.',
    changeTemplate(toy, 'F.layer', 7, (each) => [reads(each, 0, 'a')]),
  ],
  [
    'PARTIAL_STATES_DIFFER',
    'a[0,0] is declared complete: gemm leaves it partial (sum) over tensor.',
    changeBuffer(toy, 'a', { partial: [] }),
  ],
  ['SUMMED_TWICE', 'se[0] is reduced over tensor: it is complete and would count 2 times.', headTwice('se')],
  [
    'REDUCTION_DIFFERS',
    'mx[0] is reduced by sum: it is partial (max) over tensor.',
    changeTemplate(toy, 'F.head', 5, (each) => [asCollective(each, { reduce: 'sum' })]),
  ],
  ['MEAN_NOT_ALLOWED', 'lossScale: The seed of the loss is 0.25: 1 / tokens', { ...toy, lossScale: 1 / 4 }],
  [
    'GATHER_NOT_CUT',
    'P0:2 all-gather over data: W.body is gathered over data: it is whole.',
    changeLine(toy, 'P0', 1, (item) => [item, item]),
  ],
  [
    'WEIGHTS_NOT_GATHERED',
    'wpe in W.body is read as whole: a rank has its own part over data.',
    changeLine(toy, 'P0', 1, () => []),
  ],
  [
    'GRADIENT_NOT_SUMMED',
    'compute square-sum: wpe, ln1.w and 5 more in S.body is read as the whole gradient: it is partial (sum) over tensor.',
    changeLine(toy, 'P0', 15, () => []),
  ],
  ['GRADIENT_MISSING', 'is read: nothing wrote it in this period.', changeLine(toy, 'P0', 17, () => [])],
  ['GRADIENT_UNUSED', 'G.tied is written: nothing reduces it', changeLine(toy, 'P0', 18, () => [])],
  [
    'OPTIMIZER_INCOMPLETE',
    'Bucket tied must be updated exactly once with gradient, weights and state: the update lacks its state.',
    changeOperation(toy, 'P0', 24, (each) => ({
      ...each,
      writes: each.writes.filter(({ buffer }) => !buffer.startsWith('O.tied')),
    })),
  ],
  [
    'NORM_COUNTED_TWICE',
    'The norm counts wpe in S.body more than once: every rank along tensor counts it, others are split over tensor.',
    changeView(toy, 'wpe', { counted: [] }),
  ],
  [
    'NORM_NOT_SUMMED',
    'P1:22 compute clip: q is read as complete: it is partial (sum) over data.',
    changeLine(
      changeLine(toy, 'P1', 21, () => []),
      'P0',
      21,
      () => [],
    ),
  ],
  [
    'NORM_MISSED',
    'qkv.w in S.body is counted on one coordinate of tensor: the others hold parts that are left out.',
    changeView(toy, 'qkv.w', { counted: [{ axis: 'tensor', coordinate: 0 }] }),
  ],
  [
    'RESULT_PARTIAL',
    'F.head:9 compute nll: loss is what the period leaves: it is partial (sum) over data.',
    changeLine(toy, 'P1', 25, () => []),
  ],
  [
    'EXCHANGE_UNMATCHED',
    'P0:5 send x1[0]: x1[0] is sent 2 times and received 1 times: both must be 1.',
    changeLine(toy, 'P0', 5, (item) => [item, item]),
  ],
  ['EXCHANGE_ORDER_DIFFERS', 'Exchange 1 on grad.out sends dx1[0]: P0 receives dx1[1].', swappedReceives()],
  [
    'COLLECTIVE_ORDER_DIFFERS',
    'Collective 1 over ends is all-reduce over ends of G.tied (256 bytes) in P0: in P1 it is nothing.',
    changeLine(toy, 'P1', 16, () => []),
  ],
  ['EXCHANGE_BYTES_DIFFER', 'P0:5 send x1[0]: x1[0] is sent with 32 bytes: P1 receives 64.', widerOnOneSide()],
  ['WRITTEN_NEVER_READ', 'F.embed:4 compute add: dnf[0] is written: nothing reads it.', wasted()],
  [
    'DEADLOCK',
    'P0:9 send x1[1]: 3 lines wait in a circle: P0:9 send x1[1] waits for P1:10 send dx1[0] waits for P1:9 F.layer waits for P0:9 send x1[1].',
    waitingInCircle(),
  ],
];

function lateNeed(): Program {
  return changeList(toy, 'P0', (list) => ({
    ...list,
    items: list.items.map((item) => (item.id === 6 ? { ...item, needs: [9] } : item)),
  }));
}

function sized(name: string, size: number): Program {
  return changeBuffer(toy, name, { dims: [whole('s', 4), b, cut(name, size, 'tensor')] });
}

function uncut(): Program {
  return changeBuffer(toy, 'f', { dims: [whole('s', 4), b, whole('f', 32)] });
}

function headTwice(name: string): Program {
  return changeTemplate(toy, 'F.head', name === 'se' ? 7 : 8, (each) => [each, { ...each }]);
}

function swappedReceives(): Program {
  const [first, second] = ['dx1[0]', 'dx1[1]'];
  const into = (id: number, buffer: string, program: Program): Program =>
    changeOperation(program, 'P0', id, (each) => ({ ...each, writes: [{ buffer }] }));
  return into(6, second ?? '', into(10, first ?? '', toy));
}

/** The first stage sends its second activation after the first gradient came; the last stage, the other way round. */
function waitingInCircle(): Program {
  const first = changeLine(toy, 'P0', 9, (item) => [{ ...item, needs: [6] }]);
  const moved = moveLine(first, 'P1', 9, 10);
  return changeLine(moved, 'P1', 10, (item) => [{ ...item, needs: [9] }]);
}

function widerOnOneSide(): Program {
  const [x] = toy.buffers.filter(({ name }) => name === 'x');
  if (x === undefined) throw new Error('no x');
  return changeList(toy, 'P1', (list) => ({ ...list, buffers: [...list.buffers, { ...x, dtype: 'fp32' }] }));
}

/** A sum of the embedding with itself that nobody reads. */
function wasted(): Program {
  const add: Operation = {
    kind: 'compute',
    kernel: 'add',
    lane: 'compute',
    reads: ['es', 'none', 'es'],
    writes: [{ buffer: 'dnf' }],
    why: { rule: 'model' },
  };
  return changeTemplate(toy, 'F.embed', 3, (each) => [each, add]);
}

describe('rules of the verifier', () => {
  it.each(cases)('%s: %s', (code, says, program) => {
    const issues = verifyProgram(program);
    const found = issues.filter((each) => each.code === code).map(renderIssue);
    expect(issues.map(renderIssue).join('\n')).toContain(code);
    expect(found.join('\n')).toContain(says);
  });

  it('covers every code, with compiled.prop.test.ts, context-attention.test.ts and host.test.ts', () => {
    const tested = new Set<string>([
      ...cases.map(([code]) => code),
      'TIED_NOT_SUMMED',
      'BIAS_BEFORE_SUM',
      'ATTENTION_NOT_COVERED',
      'PLACE_WRONG',
    ]);
    expect(Object.keys(programCodes).filter((code) => !tested.has(code))).toEqual([]);
  });
});
