import { describe, expect, it } from 'vitest';
import { compileProgram } from '../compile/index.ts';
import { toyJob, toyLayout } from '../compile/toy.fixture.ts';
import { createPrices } from '../cost/index.ts';
import { collective, compute, fixed, handProgram, type Line, recv, send } from './hand.fixture.ts';
import {
  busyByLane,
  criticalPathOf,
  exchangesOf,
  hiddenSeconds,
  partsOfList,
  partsOfStep,
  pricesOf,
  type StepParts,
  simulateProgram,
  visitIdle,
} from './index.ts';

const peak = () => 1e15;
/** Parts that are not zero. */
const some = (parts: StepParts) => Object.fromEntries(Object.entries(parts).filter(([, seconds]) => seconds !== 0));

function stepOf(lists: readonly (readonly Line[])[], seconds: readonly (readonly number[])[], launch = 0) {
  return simulateProgram(handProgram(lists), fixed(seconds, launch, launch));
}

describe('idle time of the compute lane', () => {
  it('goes to the axis of the exchange that it waited for', () => {
    const lines = [compute('-> a'), collective('tensor', 'a -> b'), compute('b -> c'), collective('data', 'c -> d')];
    const step = stepOf([[...lines, compute('d -> e')]], [[1, 2, 3, 4, 5]]);
    expect(some(partsOfStep(step, peak))).toEqual({ memoryBound: 9, tensor: 2, data: 4 });
  });

  it('follows a chain of exchanges back to the end of the last kernel', () => {
    const lines = [compute('-> a'), collective('tensor', 'a -> b'), collective('data', 'b -> c'), compute('c -> d')];
    expect(some(partsOfStep(stepOf([lines], [[1, 2, 3, 1]]), peak))).toEqual({ memoryBound: 2, tensor: 2, data: 3 });
  });

  it('is the transfer alone where a receive waits for its partner; the rest is bubble', () => {
    const rows = [
      [compute('-> x'), send(1, 'x')],
      [recv(0, 'x'), compute('x -> y')],
    ];
    const step = stepOf(rows, [
      [5, 2],
      [2, 1],
    ]);
    expect(some(partsOfStep(step, peak))).toEqual({ memoryBound: 1, bubble: 5, pipelineSend: 2 });
  });

  it('is no bubble where the receive itself was late', () => {
    const rows = [
      [compute('-> x'), send(1, 'x')],
      [collective('tensor', '-> a'), [recv(0, 'x'), 1], compute('x -> y')],
    ] as const;
    const step = stepOf(rows, [
      [1, 2],
      [5, 2, 1],
    ]);
    expect(some(partsOfStep(step, peak))).toEqual({ memoryBound: 1, tensor: 5, pipelineSend: 2 });
  });

  it('is the host where the issue is late', () => {
    expect(some(partsOfStep(stepOf([[compute('-> a'), compute('-> b')]], [[1, 1]], 3), peak))).toEqual({
      memoryBound: 2,
      host: 5,
    });
  });

  it('after the last kernel goes to what still runs', () => {
    expect(some(partsOfStep(stepOf([[compute('-> a'), collective('data', 'a -> b')]], [[1, 3]]), peak))).toEqual({
      memoryBound: 1,
      data: 3,
    });
  });

  it('of a list that ends early is bubble until the step ends', () => {
    const step = stepOf([[compute('-> a')], [compute('-> b')]], [[1], [4]]);
    expect(step.last).toBe(1);
    expect(some(partsOfList(step, 0, peak))).toEqual({ memoryBound: 1, bubble: 3 });
  });

  it('names the operation that it waited for', () => {
    const step = stepOf([[compute('-> a'), collective('tensor', 'a -> b'), compute('b -> c')]], [[1, 2, 3]]);
    const seen: unknown[] = [];
    visitIdle(step, 0, step.seconds, (idle) => seen.push(idle));
    expect(seen).toEqual([{ part: 'tensor', seconds: 2, operation: 1 }]);
  });
});

describe('busy time of the compute lane', () => {
  const job = toyJob();
  const partsUnder = (recompute: 'none' | 'full', rate: number) => {
    const program = compileProgram(job, toyLayout({ recompute }));
    return partsOfStep(simulateProgram(program, fixed([])), () => rate);
  };
  const pricedParts = (recompute: 'none' | 'full', rate = 1e15) => {
    const program = compileProgram(job, toyLayout({ recompute }));
    const prices = pricesOf(program, createPrices(job.cluster, program.mesh));
    return partsOfStep(simulateProgram(program, prices), () => rate);
  };

  it('is products at the peak rate, what they take beyond it, other kernels and the optimizer', () => {
    const parts = pricedParts('none');
    for (const part of ['ideal', 'inefficiency', 'memoryBound', 'optimizer'] as const) {
      expect(parts[part]).toBeGreaterThan(0);
    }
    expect(parts.recompute).toBe(0);
    expect(pricedParts('none', 0.5e15).ideal).toBeCloseTo(2 * parts.ideal, 15);
  });

  it('counts what runs again as recomputation, products and all', () => {
    const [none, full] = [pricedParts('none'), pricedParts('full')];
    expect(full.recompute).toBeGreaterThan(0);
    expect(full.ideal).toBeCloseTo(none.ideal, 15);
    expect(full.memoryBound).toBeCloseTo(none.memoryBound, 12);
  });

  it('has no more ideal time than it took', () => {
    expect(some(partsUnder('full', 1))).toEqual({});
  });
});

describe('exchanges of a list', () => {
  const lines = [
    compute('-> a'),
    collective('tensor', 'a -> b'),
    compute('a -> c'),
    compute('b -> d'),
    collective('data', 'd -> e'),
  ];
  const step = stepOf([lines], [[1, 5, 2, 4, 3]]);

  it('are exposed where the compute lane waits for them, hidden where it does not', () => {
    expect(exchangesOf(step, 0)).toEqual([
      { axis: 'tensor', over: 'tensor', kind: 'all-reduce', count: 1, seconds: 5, exposedSeconds: 3 },
      { axis: 'data', over: 'data', kind: 'all-reduce', count: 1, seconds: 3, exposedSeconds: 3 },
    ]);
    expect(hiddenSeconds(step, 0)).toBe(2);
  });

  it('keep their lanes busy', () => {
    expect(busyByLane(step, 0)).toEqual({ compute: 7, tensor: 5, 'data.reduce': 3 });
  });

  it('of a named group are booked on the axis that it lies along', () => {
    const group = { name: 'ends', along: 'pipeline', coordinates: [0, 1] } as const;
    const row = [collective('ends', 'a -> a')];
    const ends = simulateProgram(handProgram([row, row], [group]), fixed([[1], [1]]));
    expect(exchangesOf(ends, 0)[0]).toMatchObject({ axis: 'pipeline', over: 'ends', exposedSeconds: 1 });
  });
});

describe('the critical path', () => {
  it('goes from the last end over lists and lanes back to time 0', () => {
    const step = stepOf(
      [
        [compute('-> x'), send(1, 'x')],
        [compute('-> a'), recv(0, 'x'), compute('x -> y')],
      ],
      [
        [5, 2],
        [1, 2, 1],
      ],
    );
    expect(criticalPathOf(step)).toEqual([
      { list: 1, operation: 2, start: 7, end: 8, waitedFor: 'data' },
      { list: 1, operation: 1, start: 5, end: 7, waitedFor: 'data', partner: { list: 0, operation: 1 } },
      { list: 0, operation: 0, start: 0, end: 5, waitedFor: 'start' },
    ]);
  });

  it('ends where the host is late', () => {
    expect(criticalPathOf(stepOf([[compute('-> a'), compute('-> b')]], [[1, 1]], 3))).toEqual([
      { list: 0, operation: 1, start: 6, end: 7, waitedFor: 'host' },
    ]);
  });

  it('tells the lane from a line that is named', () => {
    const lines = [compute('-> a'), compute('-> b'), [collective('tensor', '-> c'), 1]] as const;
    const path = criticalPathOf(stepOf([lines], [[2, 1, 5]]));
    expect(path.map((each) => each.waitedFor)).toEqual(['line', 'start']);
    expect(criticalPathOf(stepOf([lines.slice(0, 2)], [[2, 1]])).map((each) => each.waitedFor)).toEqual([
      'lane',
      'start',
    ]);
  });
});
