import { type SimulatedStep, simulateProgram } from '@meshwright/core/sim';
import { describe, expect, it } from 'vitest';
import { lessonText, sceneOf, workedText } from '../gallery/scene.fixture.ts';
import { type Invocation, stageTimelines } from './facts.ts';
import { intervalsPath, timeScale } from './scale.ts';

/** Every kernel takes one second, exchanges nothing. */
const stepOf = (text: string, layout: string): SimulatedStep =>
  simulateProgram(sceneOf(text, layout).program, {
    duration: ({ operation }) => (operation.kind === 'compute' ? 1 : 0),
    launchCompute: 0,
    launchExchange: 0,
  });

const named = ({ role, microBatch }: Invocation): string =>
  role === 'optimizer' ? 'U' : `${role.charAt(0).toUpperCase()}${microBatch}`;
const orders = (step: SimulatedStep): readonly string[] =>
  stageTimelines(step).map(({ invocations }) => invocations.map(named).join(' '));

describe('stages in time', () => {
  it('has the invocations of the worked example in order', () => {
    expect(orders(stepOf(workedText, 'tp=2,dp=2,pp=2,zero=1'))).toEqual(['F0 F1 B0 B1 U', 'F0 B0 F1 B1 U']);
  });

  it('tells the chunks of an interleaved schedule apart', () => {
    const [first = ''] = orders(stepOf(lessonText, 'pp=2,dp=4,vpp=2'));
    expect(first.split(' ').filter((each) => each === 'F0')).toHaveLength(2);
  });

  it('tells weight parts from the rest of a backward, chunk by chunk', () => {
    expect(orders(stepOf(workedText, 'tp=2,dp=2,pp=2,zero=1,schedule=zero-bubble-h1'))).toEqual([
      'F0 F1 B0 W0 B1 W1 U',
      'F0 B0 F1 B1 W0 W1 U',
    ]);
    const [stage] = stageTimelines(stepOf(lessonText, 'pp=2,dp=4,vpp=2,schedule=zero-bubble-v'));
    expect(new Set(stage?.invocations.map(({ role, chunk }) => `${role} ${chunk}`))).toEqual(
      new Set(
        ['forward', 'backward', 'weight'].flatMap((role) => [`${role} 0`, `${role} 1`]).concat('optimizer undefined'),
      ),
    );
  });

  it('counts the work of every operation once', () => {
    const step = stepOf(lessonText, 'pp=4,dp=2,ac=full');
    for (const [index, stage] of stageTimelines(step).entries()) {
      const operations = step.lists[index]?.expanded.operations ?? [];
      expect(stage.computing).toBe(operations.filter(({ operation }) => operation.kind === 'compute').length);
    }
  });

  it('knows what is done again', () => {
    const roles = stageTimelines(stepOf(lessonText, 'dp=8,ac=full'))[0]?.invocations.flatMap((each) =>
      each.stretches.map(({ role }) => `${each.role} ${role}`),
    );
    expect(new Set(roles)).toEqual(
      new Set(['forward forward', 'backward backward', 'backward again', 'optimizer optimizer']),
    );
  });
});

describe('paths of intervals', () => {
  const scale = timeScale([0, 100], 0, 100);

  it('joins what the eye cannot tell apart and keeps the rest', () => {
    const near = [
      [0, 10],
      [10.2, 20],
      [40, 50],
    ] as const;
    expect(intervalsPath(near, scale, 0, 5)).toBe('M0 0h20v5h-20zM40 0h10v5h-10z');
  });

  it('cuts at the window and leaves out what lies outside', () => {
    const outside = [
      [-5, 5],
      [120, 130],
    ] as const;
    expect(intervalsPath(outside, scale, 0, 5)).toBe('M0 0h5v5h-5z');
  });

  it('never lets an interval vanish', () => {
    expect(intervalsPath([[3, 3.001]], scale, 0, 5)).toBe('M3 0h0.5v5h-0.5z');
  });
});
