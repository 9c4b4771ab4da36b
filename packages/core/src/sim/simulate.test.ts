import { describe, expect, it } from 'vitest';
import { InputError } from '../errors/index.ts';
import type { Lane } from '../program/index.ts';
import { collective, compute, fixed, handProgram, type Line, recv, send, timesOf, wait } from './hand.fixture.ts';
import { simulateProgram } from './index.ts';

/** Times of one list alone. */
function alone(lines: readonly Line[], seconds: readonly number[], launchCompute = 0, launchExchange = 0) {
  return timesOf(simulateProgram(handProgram([lines]), fixed([seconds], launchCompute, launchExchange)), 0);
}

describe('the host', () => {
  it('issues in list order and never waits: launches add up while the device is busy', () => {
    expect(alone([compute('-> a'), compute('-> b'), collective('tensor', 'c -> c')], [5, 1, 1], 1, 2)).toEqual([
      [1, 6],
      [6, 7],
      [4, 5],
    ]);
  });

  it('starves the device when it is late', () => {
    expect(alone([compute('-> a'), compute('-> b')], [1, 1], 3)).toEqual([
      [3, 4],
      [6, 7],
    ]);
  });

  it('stands still at a wait until its value is there; what comes after is issued then', () => {
    expect(
      alone([compute('-> a'), compute('-> b'), wait('a'), collective('tensor', 'c -> c')], [5, 1, 0, 1], 1, 2),
    ).toEqual([
      [1, 6],
      [6, 7],
      [6, 6],
      [8, 9],
    ]);
  });

  it('does its own work between launches', () => {
    const work = { kind: 'host', lane: 'host', work: 'load', reads: [], writes: [{ buffer: 't' }] } as const;
    const lines: readonly Line[] = [compute('-> a'), { ...work, why: { rule: 'model' } }, compute('t -> b')];
    expect(alone(lines, [1, 10, 1], 1)).toEqual([
      [1, 2],
      [1, 11],
      [12, 13],
    ]);
  });

  it('passes marks without a stop', () => {
    const mark = { kind: 'mark', lane: 'host', phase: 'tail', reads: [], writes: [], why: { rule: 'model' } } as const;
    expect(alone([compute('-> a'), mark, compute('-> b')], [5, 9, 1], 1)).toEqual([
      [1, 6],
      [1, 1],
      [6, 7],
    ]);
  });
});

describe('an operation', () => {
  it('waits for the one before it on its lane', () => {
    expect(alone([compute('-> a'), compute('-> b')], [2, 3])).toEqual([
      [0, 2],
      [2, 5],
    ]);
  });

  it('waits for the last writer of what it reads', () => {
    expect(alone([compute('-> a'), collective('tensor', 'a -> b'), compute('b -> c')], [2, 3, 1])).toEqual([
      [0, 2],
      [2, 5],
      [5, 6],
    ]);
  });

  it('runs beside an exchange that it does not need', () => {
    expect(alone([compute('-> a'), collective('tensor', 'a -> b'), compute('a -> c')], [2, 3, 1])).toEqual([
      [0, 2],
      [2, 5],
      [2, 3],
    ]);
  });

  it('waits for all readers of what it overwrites', () => {
    const lines = [collective('tensor', 'a -> b'), collective('data', 'a -> c'), compute('-> a')];
    expect(alone(lines, [4, 7, 1])[2]).toEqual([7, 8]);
  });

  it('waits for the writer of what it overwrites', () => {
    expect(alone([collective('tensor', 'a -> b'), compute('-> b')], [4, 1])[1]).toEqual([4, 5]);
  });

  it('waits for the lines that it names', () => {
    expect(alone([compute('-> a'), compute('-> b'), [collective('tensor', 'c -> c'), 1]], [2, 3, 1])[2]).toEqual([
      2, 3,
    ]);
  });
});

describe('exchanges between lists', () => {
  it('start when sender and receiver are both ready, and take the longer of their times', () => {
    const program = handProgram([
      [compute('-> x'), send(1, 'x')],
      [compute('-> a'), [recv(0, 'x'), 1], compute('x -> y')],
    ]);
    const step = simulateProgram(
      program,
      fixed([
        [2, 1],
        [5, 3, 1],
      ]),
    );
    expect(timesOf(step, 0)[1]).toEqual([5, 8]);
    expect(timesOf(step, 1).slice(1)).toEqual([
      [5, 8],
      [8, 9],
    ]);
    expect([step.seconds, step.last]).toEqual([9, 1]);
  });

  it('wait for the issue of the later host', () => {
    const program = handProgram([[send(1, 'x')], [compute('-> a'), recv(0, 'x')]]);
    const step = simulateProgram(program, fixed([[1], [0, 1]], 10, 1));
    expect(timesOf(step, 0)).toEqual([[11, 12]]);
  });

  it('pair sends and receives of one buffer in order', () => {
    const program = handProgram([
      [compute('-> x'), send(1, 'x'), compute('-> x'), send(1, 'x')],
      [recv(0, 'x'), recv(0, 'x')],
    ]);
    const step = simulateProgram(
      program,
      fixed([
        [1, 2, 3, 2],
        [2, 2],
      ]),
    );
    expect(timesOf(step, 1)).toEqual([
      [1, 3],
      [6, 8],
    ]);
  });

  it('along the pipeline have members in all lists, in a group only in its own', () => {
    const group = { name: 'ends', along: 'pipeline', coordinates: [0, 2] } as const;
    const rows = [
      [compute('-> a'), collective('ends', 'a -> a'), collective('pipeline', 'q -> q')],
      [compute('-> a'), collective('pipeline', 'q -> q')],
      [compute('-> a'), collective('ends', 'a -> a'), collective('pipeline', 'q -> q')],
    ];
    const step = simulateProgram(
      handProgram(rows, [group]),
      fixed([
        [1, 1, 1],
        [8, 1],
        [4, 1, 1],
      ]),
    );
    expect([0, 1, 2].map((list) => timesOf(step, list).at(-1))).toEqual(Array.from({ length: 3 }, () => [0, 1]));
    expect([0, 2].map((list) => timesOf(step, list)[1])).toEqual(Array.from({ length: 2 }, () => [4, 5]));
  });
});

describe('a program that cannot run', () => {
  const issuesOf = (lists: readonly (readonly Line[])[]) => {
    try {
      simulateProgram(handProgram(lists), fixed([]));
    } catch (error) {
      if (error instanceof InputError) return error.issues;
      throw error;
    }
    return [];
  };

  it('names the circle: in-order lanes that hold each other up', () => {
    const out: Lane = 'act.out';
    const [issue, ...more] = issuesOf([
      [recv(1, 'b', out), send(1, 'a', out)],
      [recv(0, 'a', out), send(0, 'b', out)],
    ]);
    expect(more).toEqual([]);
    expect(issue?.code).toBe('DEADLOCK');
    expect(issue?.message).toBe(
      'operations wait for each other in a circle of 2: P0 line 1: recv b meets P1 line 2: send b, which waits for P1 ' +
        'line 1: recv a (before it on its lane); P1 line 1: recv a meets P0 line 2: send a, which waits for P0 line 1: ' +
        'recv b (before it on its lane).',
    );
  });

  it('names every exchange without a partner', () => {
    const issues = issuesOf([[send(1, 'a'), send(1, 'b'), collective('pipeline', 'q -> q')], [recv(0, 'b')]]);
    expect(issues.map((each) => each.code)).toEqual(['EXCHANGE_UNMATCHED', 'COLLECTIVE_ORDER_DIFFERS']);
    expect(issues[0]?.message).toBe(
      'an exchange does not find its partner: the send of a from stage 0 to stage 1, where P0 has it once, P1 has it 0 ' +
        'times.',
    );
  });

  it('does not take a negative price', () => {
    expect(() => simulateProgram(handProgram([[compute('-> a')]]), fixed([[-1]]))).toThrow(/internal: .* takes -1 s/);
  });
});

it('takes no time without operations', () => {
  const step = simulateProgram(handProgram([[]]), fixed([]));
  expect([step.seconds, step.last]).toEqual([0, 0]);
});
