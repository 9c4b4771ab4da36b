import { describe, expect, it } from 'vitest';
import { share, signed, time } from './numbers.ts';

describe('a difference in words', () => {
  it('has its sign', () => {
    expect(signed(1.2, time)).toBe(`+${time(1.2)}`);
    expect(signed(-0.021, share)).toBe(`\u2212${share(0.021)}`);
  });
  it('has none where it is written as nothing', () => {
    expect(signed(-1e-6, share)).toBe('0.0 %');
    expect(signed(0, time)).toBe('0 s');
  });
});
