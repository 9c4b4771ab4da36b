import { degreesOf, sentBytes, workOf } from '@meshwright/core/program';
import { type SimulatedStep, simulateProgram } from '@meshwright/core/sim';
import { describe, expect, it } from 'vitest';
import { StepTimeline, svgText } from '../index.ts';
import { llamaText, sceneOf, workedText } from './scene.fixture.ts';

const scenes = {
  worked: [workedText, 'tp=2,dp=2,pp=2,zero=1,grad=fp32', undefined],
  '1f1b': [llamaText, 'tp=2,pp=4,schedule=1f1b,ac=selective', undefined],
  gpipe: [llamaText, 'tp=2,pp=4,schedule=gpipe', undefined],
  interleaved: [llamaText, 'tp=2,pp=4,vpp=2,ac=selective', [0, 1.5]],
  'zero-bubble': [llamaText, 'tp=2,pp=4,schedule=zero-bubble-h1', undefined],
  sharded: [llamaText, 'dp=8,zero=3,ac=full', undefined],
  window: [llamaText, 'tp=2,pp=4,schedule=1f1b,ac=selective', [0, 0.3]],
} as const;

/** Round numbers instead of prices, so that a drawing changes only when drawing does: 400 TFLOP/s, 2.5 TB/s, and
 * 10 us with 200 GB/s for exchanges; launches of 5 us. */
function stepOf(text: string, layout: string): SimulatedStep {
  const { program } = sceneOf(text, layout);
  const degrees = degreesOf(program);
  return simulateProgram(program, {
    duration: (expanded) => {
      if (expanded.operation.kind !== 'compute') return 10e-6 + sentBytes(expanded, degrees) / 200e9;
      const { flops, bytesRead, bytesWritten } = workOf(expanded, degrees);
      return Math.max(flops / 400e12, (bytesRead + bytesWritten) / 2.5e12);
    },
    launchCompute: 5e-6,
    launchExchange: 5e-6,
  });
}

describe('the gallery of timelines', () => {
  it.each(Object.entries(scenes))('%s', async (name, [text, layout, window]) => {
    const svg = svgText(<StepTimeline step={stepOf(text, layout)} {...(window && { window })} />);
    expect(svg).not.toMatch(/NaN|undefined|Infinity| d /);
    await expect(svg).toMatchFileSnapshot(`../../../../docs/gallery/timeline-${name}.svg`);
  });
});
