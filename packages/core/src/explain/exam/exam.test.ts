import { describe, expect, it } from 'vitest';
import { createExam, type ExamPaper, type QuestionId } from './index.ts';

const paper = createExam();
const solved = paper.solve();
const right = {
  devices: 4,
  numbers: '8 x 32 x 2',
  tensorLink: 'a',
  tensorCollective: 'all-reduce',
  pipelineLink: 'between boxes',
  pipelineCollective: 'send and receive',
  dataLink: 'b',
  dataCollective: 'a',
  box: 'b',
  bubble: '10.8 %',
  zeroState: 12,
  zeroChange: 'a',
};
const markOf = (id: QuestionId, given: Readonly<Record<string, unknown>>, of: ExamPaper = paper) => {
  const mark = of.mark(given).marks.find((each) => each.id === id);
  if (!mark) throw new Error(`no mark ${id}`);
  return mark;
};

describe('the exam of 512 GPUs', { timeout: 60_000 }, () => {
  it('names three numbers whose product is 512', () => {
    expect(solved.numbers.reduce((product, each) => product * each, 1)).toBe(512);
    expect(solved.numbers).toEqual([8, 32, 2]);
  });

  it('refuses tensor 1 and 2: a layer fills 2.73 GPUs, so four hold one', () => {
    expect(solved.refused.map(({ code }) => code)).toEqual(['LAYER_DOES_NOT_FIT', 'LAYER_DOES_NOT_FIT']);
    expect(solved.refused[1]?.message).toBe(
      'a layer of 12.9 G parameters has 216 GiB of state, 108 GiB on each of 2 tensor ranks, more than the 79.1 GiB of a GPU: it fills 2.73 of them.',
    );
    expect(solved.answers.find(({ id }) => id === 'devices')?.says).toMatch(/^4: /);
  });

  it('gives each axis its link, its collective and its bytes', () => {
    expect(solved.axes).toMatchObject([
      { axis: 'tensor', degree: 8, link: 'NVLink 4', crossesNode: false },
      { axis: 'pipeline', degree: 32, link: 'InfiniBand 400 Gb/s', crossesNode: true },
      { axis: 'data', degree: 2, link: 'InfiniBand 400 Gb/s', crossesNode: true, collectives: ['all-reduce'] },
    ]);
    expect(solved.axes[0]?.collectives).toEqual(['reduce-scatter', 'all-gather']);
    expect(solved.axes[1]?.collectives).toContain('send');
    // A ring of two sends one copy of the fp32 gradients of two layers of 12 h^2 + 13 h over 8 ranks, and little more.
    const gradients = (2 * (12 * 32_768 ** 2) * 4) / 8;
    expect((solved.axes[2]?.bytesPerRank ?? 0) / gradients).toBeGreaterThan(1);
    expect((solved.axes[2]?.bytesPerRank ?? 0) / gradients).toBeLessThan(1.1);
  });

  it('says by how much tensor 16 is worse, and why', () => {
    expect(solved.wider).toMatch(
      /^Tensor 16 reaches over InfiniBand 400 Gb\/s: .* waits .* its step takes [\d.]+ % more\.$/,
    );
  });

  it('gives all points to right answers', () => {
    const { points, outOf, firstWrong, issues } = paper.mark(right);
    expect({ points, outOf, firstWrong, issues }).toEqual({ points: 12, outOf: 12, firstWrong: undefined, issues: [] });
  });

  it.each([
    ['8 x 8 x 4', '8 x 8 x 4 is 256, not 512.'],
    ['8 x 64 x 1.5', 'They are not three positive whole numbers.'],
    ['2 x 64 x 4', 'LAYER_DOES_NOT_FIT: a layer of 12.9 G parameters has 216 GiB of state, 108 GiB on each of 2'],
    ['512 x 1 x 1', 'The heads cannot be split so: 256 query heads cannot be split over 512 ranks.'],
    ['8 x 16 x 4', 'It does not work: the fullest GPU needs 1'],
    ['16 x 16 x 2', 'Tensor 16 leaves the box: every layer waits for InfiniBand 400 Gb/s.'],
  ])('explains the first wrong step of %s', (numbers, says) => {
    const mark = markOf('numbers', { numbers });
    expect(mark.right).toBe(false);
    expect(mark.says).toContain(says);
    expect(mark.says).toMatch(/The search finds 8 x 32 x 2\.$/);
  });

  it('accepts other numbers that work, and says what they cost', () => {
    const mark = markOf('numbers', { numbers: [4, 64, 2] });
    expect(mark.right).toBe(true);
    expect(mark.says).toMatch(/^It fits and takes [\d.]+ s a step\. It takes [\d.]+ % more than that\./);
  });

  it('asks about the numbers that were given', () => {
    expect(markOf('bubble', { numbers: '8 x 64 x 1', bubble: 11 }).right).toBe(true);
    expect(markOf('zeroState', { numbers: '8 x 64 x 1', zeroState: 18 }).right).toBe(true);
    expect(markOf('dataLink', { numbers: '8 x 64 x 1', dataLink: 'a' }).says).toBe('One rank exchanges with nobody.');
  });

  it('says why three GPUs are not enough though their memory is', () => {
    expect(markOf('devices', { devices: 3 }).says).toMatch(
      /^Enough memory, but 256 query heads cannot be split over 3 ranks\./,
    );
  });

  it('names the first wrong answer, and what was not answered', () => {
    const { firstWrong, points } = paper.mark({ ...right, box: 'a' });
    expect({ firstWrong, points }).toEqual({ firstWrong: 'box', points: 11 });
    expect(markOf('box', {}).says).toMatch(/^Not answered\. /);
  });

  it('names answers that it cannot read', () => {
    const { issues } = paper.mark({ numbers: 'eight', tensorLnk: 'a', box: 'the', bubble: '' });
    expect(issues.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'VALUE_WRONG_TYPE numbers',
      'KEY_UNKNOWN tensorLnk',
      'VALUE_WRONG_TYPE box',
      'VALUE_WRONG_TYPE bubble',
    ]);
    expect(issues[1]?.hint).toBe('Did you mean tensorLink?');
  });
});

describe('drawn exams', { timeout: 120_000 }, () => {
  it.each([1, 2, 3])('seed %i asks about a job whose answer stays in the box, the same each time', (seed) => {
    const drawn = createExam(seed);
    expect(createExam(seed).exam).toEqual(drawn.exam);
    const { numbers, axes, refused } = drawn.solve();
    const { cluster } = drawn.job;
    expect(numbers.reduce((product, each) => product * each, 1)).toBe(cluster.nodes * cluster.gpusPerNode);
    expect(numbers[0]).toBeLessThanOrEqual(cluster.gpusPerNode);
    expect(axes[0]?.crossesNode).toBe(false);
    expect(refused.length).toBeGreaterThan(0);
    expect(markOf('numbers', { numbers: [...numbers] }, drawn)).toMatchObject({ right: true });
  });
});
