import type { ScalingCurve, Sweep, SweepPoint } from '@meshwright/core/plan';
import { describe, expect, it } from 'vitest';
import { Scaling, svgText } from '../index.ts';
import { partGroups, sharesOf } from '../scaling/parts.ts';

const nothing: SweepPoint['partsSeconds'] = {
  ideal: 0,
  inefficiency: 0,
  memoryBound: 0,
  recompute: 0,
  optimizer: 0,
  tensor: 0,
  context: 0,
  expert: 0,
  data: 0,
  pipelineSend: 0,
  bubble: 0,
  host: 0,
  offload: 0,
};

/** Round numbers in place of a search: compute that shrinks with the GPUs, and waiting that does not. */
function pointOf(gpus: number, waits: number, best: number): SweepPoint {
  const work = 640 / gpus;
  const partsSeconds = {
    ...nothing,
    ideal: 0.7 * work,
    memoryBound: 0.2 * work,
    optimizer: 0.1,
    data: waits,
    bubble: waits / 2,
  };
  const seconds = Object.values(partsSeconds).reduce((sum, each) => sum + each, 0);
  const tokensPerSecondPerGpu = 1e6 / seconds / gpus;
  return {
    gpus,
    sequences: 512,
    layout: `tp=8,pp=1,dp=${gpus / 8},mbs=1,zero=1`,
    verdict: 'fits',
    seconds,
    tokensPerSecondPerGpu,
    efficiency: Math.min(1, tokensPerSecondPerGpu / best),
    exposedShare: waits / seconds,
    bubbleShare: waits / 2 / seconds,
    mfu: 0.4,
    partsSeconds,
    tensor: 8,
    stages: 1,
    dataRanks: gpus / 8,
    microBatches: 1,
    beyondLimit: false,
  };
}

const bestOf = pointOf(16, 0.02, 1).tokensPerSecondPerGpu;
const strong: ScalingCurve = {
  kind: 'strong',
  points: [16, 32, 64, 128, 256, 512].map((gpus) => pointOf(gpus, 0.02 * (gpus / 16), bestOf)),
  gaps: [{ gpus: 8, code: 'NOTHING_FITS', why: 'the smallest layout needs 134 GiB' }],
  knee: {
    gpus: 128,
    beyond: 256,
    efficiency: 0.8,
    cause: 'data',
    words: '256 GPUs reach 80.0 % of the tokens/s/GPU of 16: waiting for the data axis grew.',
  },
};
const weak: ScalingCurve = { kind: 'weak', points: [16, 32, 64].map((gpus) => pointOf(gpus, 0.02, bestOf)), gaps: [] };

const scenes: Readonly<Record<string, Sweep>> = {
  both: { from: 8, to: 512, threshold: 0.9, curves: [strong, weak] },
  'nothing-fits': { from: 8, to: 8, threshold: 0.9, curves: [{ kind: 'strong', points: [], gaps: strong.gaps }] },
};

describe('the gallery of scaling', () => {
  it.each(Object.entries(scenes))('%s', async (name, sweep) => {
    const svg = svgText(<Scaling sweep={sweep} name="a job" />);
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
    await expect(svg).toMatchFileSnapshot(`../../../../docs/gallery/scaling-${name}.svg`);
  });

  it('draws every part of a step once: shares add up to one', () => {
    const parts = partGroups.flatMap((group) => group.parts);
    expect([...parts].sort()).toEqual(Object.keys(nothing).sort());
    for (const point of strong.points) expect(sharesOf(point).reduce((sum, each) => sum + each, 0)).toBeCloseTo(1, 12);
  });
});
