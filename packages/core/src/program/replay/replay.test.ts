import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileProgram } from '../../compile/index.ts';
import { cases } from '../../compile/laws/cases.fixture.ts';
import { degreesOf, expandList } from '../expand.ts';
import { lifetimesOf } from '../liveness.ts';
import { storagesOf } from '../storage.ts';
import { replayList, replayOperations } from './index.ts';
import { peakOf } from './peak.ts';

const lists = cases('padded').map(({ job, layout }) => compileProgram(job, layout));

describe('a replayed list', () => {
  it('has the operations of the list written out: what they do, on which shapes, in which memory', () => {
    fc.assert(
      fc.property(lists, (program) => {
        for (const list of program.lists) {
          const replay = replayList(program, list);
          const { operations, instances } = expandList(program, list);
          const { numberOf, owners } = storagesOf({ list, operations, instances });
          expect(replay.length).toBe(operations.length);
          const named = replay.owners();
          for (const { index, operation, reads, writes, again, block } of operations) {
            const sample = replay.samples[replay.sampleOf[index] ?? 0];
            const own = [...reads, ...writes.map((write) => write.operand)].flatMap((each) => (each ? [each] : []));
            const memory = replay.operands.subarray(replay.operandFirst[index], replay.operandFirst[index + 1]);
            expect([sample?.operation.kind, sample?.operation.why, sample?.again, sample?.block]).toEqual([
              operation.kind,
              operation.why,
              again,
              block,
            ]);
            const dims = [...(sample?.reads ?? []), ...(sample?.writes.map((write) => write.operand) ?? [])];
            expect(dims.flatMap((each) => (each ? [each.dims] : []))).toEqual(own.map((each) => each.dims));
            expect(Array.from(memory, (each) => named.instanceOf(each).name)).toEqual(
              own.map(({ instance }) => owners[numberOf(instance)]?.name),
            );
          }
        }
      }),
      { numRuns: 25 },
    );
  });

  it('needs the ends of the same lines', () => {
    fc.assert(
      fc.property(lists, (program) => {
        for (const list of program.lists) {
          const { lineFirst, needs, needFirst } = replayList(program, list);
          const { operations } = expandList(program, list);
          for (let line = 0; line < list.items.length; line++) {
            const own = Array.from(needs.subarray(needFirst[line], needFirst[line + 1]));
            for (let at = lineFirst[line] ?? 0; at < (lineFirst[line + 1] ?? 0); at++) {
              expect(operations[at]?.needs).toEqual(own);
            }
          }
        }
      }),
      { numRuns: 25 },
    );
  });

  it('has the peak of its lifetimes, from templates and from operations alike', () => {
    fc.assert(
      fc.property(lists, (program) => {
        const degrees = degreesOf(program);
        for (const list of program.lists) {
          const expanded = expandList(program, list);
          const { peakBytes, peakIndex, residentBytes } = lifetimesOf(expanded, degrees);
          const peak = peakOf(replayList(program, list), degrees);
          expect(peak).toMatchObject({ peakBytes, peakIndex, residentBytes });
          expect([...peak.byRole.values()].reduce((sum, each) => sum + each, 0)).toBe(peakBytes);
          const { operations, instances } = expanded;
          expect(peakOf(replayOperations({ list, operations, instances }), degrees)).toEqual(peak);
        }
      }),
      { numRuns: 40 },
    );
  });
});
