import { failuresOf, type Interrupted, lostCurve } from '@meshwright/core/plan';
import { describe, expect, it } from 'vitest';
import { Checkpoints, svgText } from '../index.ts';

const scenes: Readonly<Record<string, Interrupted>> = {
  'sixteen-thousand': { devices: 16_384, nodes: 2048, checkpointBytes: 5.67e12, stepSeconds: 40 },
  'one-node': { devices: 8, nodes: 1, checkpointBytes: 94e9, stepSeconds: 41 },
};

describe('the gallery of checkpoints', () => {
  it.each(Object.entries(scenes))('%s', async (name, job) => {
    const failures = failuresOf(job);
    const svg = svgText(<Checkpoints failures={failures} curve={lostCurve(failures)} />);
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
    await expect(svg).toMatchFileSnapshot(`../../../../docs/gallery/checkpoints-${name}.svg`);
  });
});
