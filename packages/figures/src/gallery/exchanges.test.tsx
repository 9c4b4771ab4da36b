import { describe, expect, it } from 'vitest';
import { Exchanges, svgText } from '../index.ts';
import { lessonText, sceneOf, workedText } from './scene.fixture.ts';

/** The worked example, and the five layouts of the lesson, each on eight GPUs. */
const scenes = {
  worked: [workedText, 'tp=2,dp=2,pp=2,zero=1,grad=fp32'],
  data: [lessonText, 'dp=8,zero=0'],
  sharded: [lessonText, 'dp=8,zero=3'],
  tensor: [lessonText, 'tp=8'],
  pipeline: [lessonText, 'pp=8'],
  'three-axes': [lessonText, 'tp=2,dp=2,pp=2,zero=1'],
} as const;

describe('the gallery of exchanges', () => {
  it.each(Object.entries(scenes))('%s', async (name, [text, layout]) => {
    const scene = sceneOf(text, layout);
    const svg = svgText(<Exchanges program={scene.program} cluster={scene.cluster} />);
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
    await expect(svg).toMatchFileSnapshot(`../../../../docs/gallery/exchanges-${name}.svg`);
  });
});
