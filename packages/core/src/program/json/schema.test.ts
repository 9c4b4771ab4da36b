import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { toyProgram } from '../fixtures/toy.fixture.ts';
import { programFromJson, programJsonSchema, programToJson } from './index.ts';
import { shapedProgram } from './shape.fixture.ts';

const schema = z.fromJSONSchema(programJsonSchema() as Parameters<typeof z.fromJSONSchema>[0]);

describe('the published schema', () => {
  it('takes programs', () => {
    expect(schema.safeParse(JSON.parse(JSON.stringify(programToJson(toyProgram())))).success).toBe(true);
    fc.assert(
      fc.property(shapedProgram, (program) => {
        expect(schema.safeParse(JSON.parse(JSON.stringify(program))).success).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it('refuses what the check refuses', () => {
    const toy = toyProgram();
    for (const wrong of [
      { ...toy, layers: 1.5 },
      { ...toy, optimizer: 'adam' },
      { ...toy, more: 1 },
      { ...toy, mesh: [] },
    ]) {
      expect(schema.safeParse(wrong).success).toBe(false);
      expect(programFromJson(wrong).program).toBeUndefined();
    }
  });
});
