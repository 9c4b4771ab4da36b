import { readFileSync } from 'node:fs';
import { readExclusions, readRuns, scoreRuns } from '@meshwright/core/score';
import { describe, expect, it } from 'vitest';

const named = (path: string) => ({ name: path, text: readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8') });
const whole = ['Korthikanti et al. 2022 Table 5', 'Narayanan et al. 2021 (SC21) Table 1'];

describe('predictions on published runs', () => {
  it('stay as near to the measured times as docs/accuracy.md says, and nearer than a constant rate', () => {
    const { rows, issues } = readRuns(named('data/runs.csv'));
    expect(issues).toEqual([]);
    const sample = rows.filter(({ source }, index) => index % 4 === 0 || whole.includes(source));
    const score = scoreRuns(sample, { exclusions: readExclusions(named('data/exclusions.csv')).reasons });
    expect(score.overall.rows).toBeGreaterThan(250);
    expect(score.overall.mape).toBeLessThan(0.12);
    expect(score.overall.median).toBeLessThan(0.08);
    for (const source of [...whole, 'vTrain validation data, several nodes']) {
      const found = score.nullModel.bySource.find((each) => each.source === source);
      expect(found?.ours, source).toBeLessThan(found?.mape ?? 0);
    }
  }, 180_000);
});
