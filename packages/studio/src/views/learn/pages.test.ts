import { bytesSent } from '@meshwright/core/program';
import { bubbleShare } from '@meshwright/core/schedules';
import { type LessonKey, lessonProgram, lessonScene, momentOf } from '@meshwright/figures';
import { describe, expect, it } from 'vitest';
import { exam } from './exam.ts';
import { pages } from './pages.ts';

const sent = (key: LessonKey): number => bytesSent(lessonProgram(key).program).lists[0]?.total.bytes ?? 0;

describe('the pages of Learn', () => {
  it('say what they have to say in 150 words before the figure', () => {
    for (const { title, plain, question, text } of pages) {
      expect([plain, question, ...text].join(' ').split(/\s+/).length, title).toBeLessThanOrEqual(150);
    }
  });

  it('ask a question each, and the exam another one each', () => {
    expect(exam).toHaveLength(pages.length);
    const all = [...pages.map(({ guess }) => guess), ...exam];
    expect(new Set(all.map(({ question }) => question)).size).toBe(all.length);
    for (const { answers, right } of all) expect(answers[right]).toBeDefined();
  });

  it('name numbers that the engine has', () => {
    const [first] = momentOf(lessonScene('data', 'llama-2-7b').script, 0).gpus;
    expect((first?.totalBytes ?? 0) / 1e9).toBeCloseTo(108, 0);
    // The ring of the data lesson, and of sixteen replicas.
    expect([8, 16].map((ranks) => (2 * (ranks - 1)) / ranks)).toEqual([1.75, 1.875]);
    // Beside the loss and the norm, which are a few numbers.
    expect(sent('sharded') / sent('data')).toBeCloseTo(1.5, 1);
    const idle = (stages: number, microBatches: number): string =>
      (100 * bubbleShare({ schedule: '1f1b', stages, chunks: 1, microBatches })).toFixed(0);
    expect([idle(8, 16), idle(2, 8), idle(8, 32)]).toEqual(['30', '11', '18']);
  });
});
