import { describe, expect, it } from 'vitest';
import { runIn } from '../host.fixture.ts';

describe('meshwright exam', { timeout: 60_000 }, () => {
  it('prints the questions and how to answer where nobody is there', async () => {
    const { code, out } = await runIn(['exam']);
    expect(code).toBe(0);
    expect(out).toMatch(/^12 questions about one job\n/);
    expect(out).toContain('2. Three numbers whose product is 512: tensor, pipeline, data.\n   [numbers]');
    expect(out).toContain('meshwright exam --answers FILE');
  });

  it('gives the questions and not the answers as JSON', async () => {
    const { out } = await runIn(['exam', '--json']);
    const exam = JSON.parse(out);
    expect(Object.keys(exam)).toEqual(['schema', 'situation', 'questions']);
    expect(exam.schema).toBe('meshwright.exam/1');
  });

  it('marks a file, places what it cannot read, and ends with 1 when something is wrong', async () => {
    const files = { 'a.yaml': 'devices: 4\nnumbers: 8 x 8 x 8\nboxes: b\n' };
    const { code, out, err } = await runIn(['exam', '--answers', 'a.yaml'], { files });
    expect(code).toBe(1);
    expect(out).toMatch(/^1 of 12: the first wrong answer is numbers\n/);
    expect(err).toContain('a.yaml:3:1  KEY_UNKNOWN  boxes: boxes is not a question of this exam. Did you mean box?');
  });

  it('asks a person, again when it cannot read the answer, and marks each at once', async () => {
    const { out } = await runIn(['exam'], { typed: ['many', '4', '8 x 32 x 2'], terminal: true });
    expect(out).toContain('"many" is not a number (GPUs).');
    expect(out).toMatch(/right\. 4: a layer of 12\.9 G parameters/);
    expect(out).toMatch(/right\. It fits and takes [\d.]+ s a step\./);
    expect(out).toMatch(/\n2 of 12\n$/);
  });

  it('shows the answers', async () => {
    const { out } = await runIn(['exam', '--solution']);
    expect(out).toMatch(/^8 x 32 x 2 = 512: tensor 8 \u00b7 pipeline 32 \u00b7 data 2, /);
    expect(out).toMatch(/^tensor +8 +NVLink 4 +no +reduce-scatter, all-gather +[\d.]+$/m);
  });
});
