import { clusterFromRequest } from '@meshwright/core/cluster';
import { compileProgram } from '@meshwright/core/compile';
import { meshOf } from '@meshwright/core/layout';
import { planJob, showLayout } from '@meshwright/core/plan';
import { describe, expect, it } from 'vitest';
import {
  bytesBetween,
  ClusterMap,
  frontOf,
  fullestBytes,
  lessonJob,
  lessonScene,
  MemoryBars,
  MemoryOver,
  mapLinks,
  memoryOverStep,
  Ranking,
  svgText,
  Waterfall,
} from '../index.ts';

const clean = (svg: string): string => {
  expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  return svg;
};

describe('figures of plans', () => {
  const { job, layout } = lessonScene('pipeline', 'llama-2-7b');
  const shown = showLayout(job, layout);

  it('draw where a step goes: the bars add up to the step', () => {
    const svg = clean(svgText(<Waterfall step={shown.step} />));
    const bars = [...svg.matchAll(/<rect x="([\d.]+)" y="\d+" width="([\d.]+)" height="15" fill="var/g)];
    const [first, last] = [bars[0], bars.at(-1)];
    expect(Number(first?.[1])).toBe(170);
    expect(Number(last?.[1]) + Number(last?.[2])).toBeCloseTo(354, -1);
  });

  it('draw each stage against the capacity, and hatch what is too much', () => {
    const fits = clean(svgText(<MemoryBars memory={shown.memory} />));
    expect(fits.match(/>stage \d<\/text>/g)).toHaveLength(8);
    const whole = showLayout(lessonJob('llama-2-13b'), { data: 8, sharding: 0, microBatch: 1 });
    expect(clean(svgText(<MemoryBars memory={whole.memory} />))).toContain('fill="url(#mw-over)"');
    expect(fits).not.toContain('fill="url(#mw-over)"');
  });

  it('draw memory over a step up to the peak that memory is counted with', () => {
    const stages = memoryOverStep(compileProgram(job, layout));
    expect(stages).toHaveLength(8);
    for (const stage of stages) {
      expect(Math.max(...stage.over)).toBe(stage.peakBytes);
      clean(svgText(<MemoryOver stage={stage} />));
    }
  });

  it('draw links as wide as what crosses them: every byte of a step is on one of them', () => {
    const lesson = lessonScene('three-axes', 'llama-2-7b');
    const order = ['pipeline', 'tensor', 'context', 'expert', 'data'] as const;
    for (const request of [lesson.layout, { ...lesson.layout, order }]) {
      const { traffic } = showLayout(lesson.job, request);
      const sent = traffic.reduce((sum, { bytesPerRank }) => sum + bytesPerRank, 0);
      const links = mapLinks(traffic, 'data');
      expect(links.reduce((sum, { bytesPerRank }) => sum + bytesPerRank, 0)).toBeCloseTo(sent, -3);
      expect(bytesBetween(traffic)).toBeLessThan(sent);
    }
    const { traffic } = showLayout(lesson.job, lesson.layout);
    const map = { mesh: meshOf(lesson.layout), gpusPerNode: 4, axis: 'data', rank: 0 } as const;
    const svg = clean(svgText(<ClusterMap {...map} links={mapLinks(traffic, 'data')} />));
    expect(svg).toMatch(/between hosts, [^:]+: [\d.,]+ [KMG]iB a rank and step/);
    expect(svgText(<ClusterMap {...map} />)).not.toContain('a rank and step');
  });

  it('rank plans by time and memory, with the front filled', () => {
    const { cluster } = clusterFromRequest({ preset: 'dgx-h100', nodes: 1 }, 'cluster');
    const { plans } = planJob(cluster ? { ...lessonJob('toy'), cluster } : lessonJob('toy'), { top: 5 });
    const front = frontOf(plans);
    const svg = clean(svgText(<Ranking plans={plans} />));
    expect(svg.match(/<circle/g)).toHaveLength(plans.length);
    expect(svg.match(/<circle[^>]*fill="var\(--mw-op-forward\)"/g)).toHaveLength(front.length);
    for (let index = 1; index < front.length; index++) {
      const [one, other] = [front[index - 1], front[index]];
      if (one && other) expect(fullestBytes(other)).toBeLessThan(fullestBytes(one));
    }
  });
});
