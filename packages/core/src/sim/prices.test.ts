import { describe, expect, it } from 'vitest';
import { compileProgram } from '../compile/index.ts';
import { toyJob, toyLayout } from '../compile/toy.fixture.ts';
import { createPrices, type ExchangeRequest, type Prices } from '../cost/index.ts';
import {
  bytesSent,
  collectiveBytes,
  degreesOf,
  expandList,
  type Program,
  sentBytes,
  workOf,
} from '../program/index.ts';
import { seconds } from '../units/index.ts';
import { exchangeRequest, pricesOf, simulateProgram, timelineOf } from './index.ts';

const job = toyJob();
const program = compileProgram(job, toyLayout());
const degrees = degreesOf(program);
const operations = program.lists.flatMap((list) =>
  expandList(program, list).operations.map((expanded) => ({ expanded, list })),
);
const prices = createPrices(job.cluster, program.mesh);

describe('prices of operations', () => {
  it('are those of their work and of their exchange, whatever was asked before', () => {
    const priced = pricesOf(program, prices);
    for (const { expanded, list } of [...operations, ...operations]) {
      const request = exchangeRequest(program, expanded, degrees);
      const expected = request ? prices.exchange(request) : prices.compute(workOf(expanded, degrees));
      expect(priced.duration(expanded, list)).toBe(expected);
    }
    expect([priced.launchCompute, priced.launchExchange]).toEqual([prices.launchCompute, prices.launchExchange]);
  });

  it('are asked once for each operation of a template and shape', () => {
    const asked: unknown[] = [];
    const counting: Prices = {
      ...prices,
      compute: (work) => {
        asked.push(work);
        return seconds(1);
      },
    };
    simulateProgram(program, pricesOf(program, counting));
    const written = (each: Program) =>
      [
        ...each.templates.flatMap((template) => template.operations),
        ...each.lists.flatMap((list) => list.items.flatMap((item) => (item.kind === 'call' ? [] : [item.operation]))),
      ].filter((operation) => operation.kind === 'compute').length;
    expect(asked.length).toBe(written(program));
  });
});

describe('requests of exchanges', () => {
  const requests = operations.flatMap(({ expanded }) => {
    const request = exchangeRequest(program, expanded, degrees);
    return request ? [{ expanded, request }] : [];
  });

  it('name the whole buffer: the bytes sent follow from it by the closed form', () => {
    for (const { expanded, request } of requests) {
      const { operation } = expanded;
      if (operation.kind === 'recv') continue;
      const sent =
        request.kind === 'send'
          ? request.bytes
          : collectiveBytes(
              request.kind,
              operation.kind === 'collective' ? operation.algorithm : 'ring',
              2,
              request.bytes,
            );
      expect(sent).toBe(sentBytes(expanded, degrees));
    }
    expect(bytesSent(program).totalBytes).toBe(24_656);
  });

  it('name the ends of the pipeline for the tied embedding, and the pipeline for sends and receives', () => {
    const named = (kind: ExchangeRequest['kind'], members?: 'ends') =>
      requests.filter(({ request }) => request.kind === kind && request.members === members);
    expect(named('all-reduce', 'ends').map(({ request }) => [request.axes, request.bytes])).toEqual([
      [['pipeline'], 256],
      [['pipeline'], 256],
    ]);
    expect(named('send').length).toBe(8);
    for (const { request } of named('send')) {
      expect(request).toEqual({ kind: 'send', algorithm: 'ring', bytes: 32, axes: ['pipeline'] });
    }
  });
});

describe('the timeline', () => {
  const step = simulateProgram(program, pricesOf(program, prices));
  const timeline = timelineOf(step);

  it('holds every operation of the first rank of each list, in order, in whole nanoseconds', () => {
    expect(timeline.length).toBe(operations.length);
    expect(new Set(timeline.rank)).toEqual(new Set([0, 4]));
    for (let index = 1; index < timeline.length; index++) {
      expect(timeline.start[index]).toBeGreaterThanOrEqual(timeline.start[index - 1] ?? 0);
    }
    expect(timeline.end.every((end, index) => Number.isInteger(end) && end >= (timeline.start[index] ?? 0))).toBe(true);
    expect(Math.max(...timeline.end)).toBe(Math.round(step.seconds * 1e9));
  });

  it('puts each on its lane', () => {
    for (let index = 0; index < timeline.length; index++) {
      const list = timeline.rank[index] === 0 ? 0 : 1;
      const expanded = step.lists[list]?.expanded.operations[timeline.operation[index] ?? -1];
      expect(timeline.lanes[timeline.lane[index] ?? -1]).toBe(expanded?.operation.lane);
    }
  });
});
