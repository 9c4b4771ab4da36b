import { describe, expect, it } from 'vitest';
import { lessonScene, lessons, Steps, StepsStill, svgText } from '../index.ts';

/** One moment of each layout of the lesson, in which something travels. */
const frames = { data: 13, sharded: 31, tensor: 8, pipeline: 82, 'three-axes': 400, context: 8, expert: 7 } as const;

describe('the gallery of steps', () => {
  it.each(lessons.map(({ key }) => key))('%s', async (key) => {
    const { script } = lessonScene(key);
    const svg = svgText(<Steps script={script} frame={frames[key]} />);
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
    await expect(svg).toMatchFileSnapshot(`../../../../docs/gallery/steps-${key}.svg`);
  });

  it('a phone', async () => {
    const svg = svgText(<Steps script={lessonScene('pipeline').script} frame={82} size="narrow" />);
    await expect(svg).toMatchFileSnapshot('../../../../docs/gallery/steps-narrow.svg');
  });

  it('a model that does not fit', async () => {
    const svg = svgText(<Steps script={lessonScene('data', 'llama-2-7b').script} frame={30} />);
    expect(svg).toMatch(/does not fit/);
    await expect(svg).toMatchFileSnapshot('../../../../docs/gallery/steps-too-large.svg');
  });

  it('all phases at once, for print', async () => {
    const svg = svgText(<StepsStill script={lessonScene('sharded', 'toy', 1).script} />);
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
    await expect(svg).toMatchFileSnapshot('../../../../docs/gallery/steps-still.svg');
  });
});
