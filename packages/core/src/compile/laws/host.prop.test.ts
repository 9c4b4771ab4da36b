import fc from 'fast-check';
import { expect, it } from 'vitest';
import { degreesOf, expandList, hostBytes, touchedBytes } from '../../program/index.ts';
import { compileProgram } from '../index.ts';
import { cases } from './cases.fixture.ts';
import { hostPerParameter, piecesByLaw } from './index.ts';

it('state in host memory keeps there, and copies once a step, the bytes of the closed form wherever sizes divide', () => {
  fc.assert(
    fc.property(cases('even'), ({ job, layout: drawn }) => {
      const layout = { ...drawn, offload: 'optimizer' as const };
      const program = compileProgram(job, layout);
      const degrees = degreesOf(program);
      const ways = layout.sharding > 0 ? layout.data / layout.replicate : 1;
      const { kept, copied } = hostPerParameter(job, layout);
      for (const [stage, list] of program.lists.entries()) {
        const pieces = piecesByLaw(job, layout, stage);
        const parameters = pieces.reduce((sum, { summed, rest }) => sum + summed + rest, 0) / ways;
        const copies = expandList(program, list).operations.filter(({ operation }) =>
          operation.why.rule.startsWith('copy-'),
        );
        const moved = copies.reduce((sum, { reads: [read] }) => sum + (read ? touchedBytes(read, degrees) : 0), 0);
        expect(hostBytes(list.buffers, degrees)).toBe(kept * parameters);
        expect(moved).toBe(copied * parameters);
      }
    }),
    { numRuns: 25 },
  );
});

it('state on the device keeps and copies nothing on the host', () => {
  const job = { precision: 'bf16', optimizer: 'adamw' } as const;
  expect(hostPerParameter(job, { offload: 'none', gradientType: 'bf16' })).toEqual({ kept: 0, copied: 0 });
  expect(hostPerParameter(job, { offload: 'optimizer', gradientType: 'bf16' })).toEqual({ kept: 16, copied: 4 });
});
