import { describe, expect, it } from 'vitest';
import { contrast, difference, smallestDifference } from './colour-science.fixture.ts';
import { customProperties, dark, light, textOn } from './index.ts';

describe('the science that the palette is held against', () => {
  it('agrees with the published pairs of Sharma, Wu and Dalal', () => {
    expect(difference([50, 2.6772, -79.7751], [50, 0, -82.7485])).toBeCloseTo(2.0425, 4);
    expect(difference([2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514])).toBeCloseTo(0.9082, 4);
    expect(contrast('#ffffff', '#000000')).toBeCloseTo(21, 10);
  });
});

describe.each([
  ['light', light],
  ['dark', dark],
])('the %s theme', (_, theme) => {
  const operations = Object.values(theme.operation);
  const memory = Object.values(theme.memory);

  it('keeps operations apart for every kind of colour vision', () => {
    expect(smallestDifference(operations)).toBeGreaterThan(18.9);
  });

  it('keeps parts of memory apart for every kind of colour vision', () => {
    expect(smallestDifference(memory)).toBeGreaterThan(17.9);
  });

  it('stands out from the background and from panels', () => {
    for (const colour of [...operations, ...memory]) {
      expect(contrast(colour, theme.surface.background)).toBeGreaterThanOrEqual(3);
    }
    for (const ground of [theme.surface.background, theme.surface.panel]) {
      for (const role of ['text', 'quiet', 'alarm'] as const) {
        expect(contrast(theme.surface[role], ground)).toBeGreaterThanOrEqual(4.5);
      }
    }
  });

  it('puts readable text on every operation', () => {
    for (const colour of operations) expect(contrast(textOn(colour), colour)).toBeGreaterThanOrEqual(4.5);
  });

  it('is complete as custom properties', () => {
    expect(customProperties(theme)).toMatch(/^--mw-background:#[0-9a-f]{6};.*--mw-memory-reserve:#[0-9a-f]{6}$/);
  });
});
