/** @file The guide to step programs: its excerpts are lines of the golden program, and what it says of them is computed
 * from the program here. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { coordinateOf, groupOf } from '@meshwright/core/mesh';
import {
  bytesSent,
  degreesOf,
  dependenciesOf,
  expandList,
  type Item,
  type Program,
  parseProgram,
  type RankList,
  sentBytes,
} from '@meshwright/core/program';
import { describe, expect, it } from 'vitest';
import { excerptsOf } from '../../tools/excerpts.mjs';

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
const guide = read('docs/guide/step-program.md');
const golden = read('test/golden/programs/example-2x2x2-zero-1.txt');
const program = parseProgram(golden).program as Program;
const [first, second] = program.lists as unknown as readonly [RankList, RankList];

const ruleOf = (item: Item | undefined): string =>
  item?.kind === 'operation' ? item.operation.why.rule : (item?.template ?? '');
const ranksOf = (list: RankList): readonly number[] =>
  [0, 1, 2, 3, 4, 5, 6, 7].filter((rank) => coordinateOf(program.mesh, rank).pipeline === list.pipeline);
const writes = (item: Item): readonly string[] =>
  item.kind === 'operation' ? item.operation.writes.map((write) => write.buffer) : [];

/** The lines that hold a line of a list up beside its lane: those that make what it touches, and those it needs. */
function waitsFor(list: RankList, id: number): readonly number[] {
  const expanded = expandList(program, list);
  const { starts, targets } = dependenciesOf(expanded);
  const index = expanded.operations.findIndex((operation) => operation.item === id);
  const lines = [...targets.slice(starts[index], starts[index + 1])].map((target) => expanded.operations[target]?.item);
  return [...new Set(lines)].flatMap((line) => line ?? []);
}

/** Most micro-batches of a stage whose forward is done and whose backward is not. */
function inFlight(list: RankList): number {
  let now = 0;
  let most = 0;
  for (const item of list.items) {
    if (item.kind === 'call' && item.template === 'F.layer') now += 1;
    most = Math.max(most, now);
    if (item.kind === 'call' && item.template === 'B.layer') now -= 1;
  }
  return most;
}

describe('the guide to step programs', () => {
  it('shows lines of the golden program only (else: node tools/generate-docs.mjs)', () => {
    const lines = new Set(golden.split('\n'));
    const excerpts = excerptsOf(guide);
    expect(excerpts.length).toBeGreaterThanOrEqual(8);
    for (const { what, lines: shown } of excerpts) {
      expect(shown.length, what).toBeGreaterThan(1);
      for (const line of shown) expect(lines.has(line), `${what}: ${line}`).toBe(true);
    }
  });

  it('points at the lines that it means', () => {
    const rules = (list: RankList, from: number, to: number): readonly string[] =>
      list.items.slice(from - 1, to).map(ruleOf);
    expect(rules(first, 1, 2)).toEqual(['gather-updated', 'gather-updated']);
    expect(first.items[5]).toMatchObject({ needs: [4], operation: { kind: 'recv' } });
    expect(waitsFor(first, 11)).toContain(6);
    expect(rules(first, 15, 18)).toEqual(['sum-whole-parameters', 'reduce-gradient', 'sum-tied', 'reduce-gradient']);
    expect(first.items.slice(18, 24).map((item) => item.kind === 'operation' && item.operation)).toMatchObject([
      { kernel: 'square-sum' },
      { axis: 'tensor' },
      { axis: 'data' },
      { axis: 'pipeline' },
      { kernel: 'clip' },
      { kernel: 'adamw' },
    ]);
    const operations = (name: string) => program.templates.find((each) => each.name === name)?.operations ?? [];
    expect(operations('F.layer').map((operation) => operation.why.rule)).toMatchObject({
      1: 'gather-sequence',
      5: 'scatter-partial',
    });
    expect(operations('F.layer')[6]).toMatchObject({ kernel: 'add', reads: ['as', 'proj.b', 'x'] });
    const backward = operations('B.layer').map((operation) => operation.why.rule);
    expect([backward[1], backward[7], backward[11]]).toEqual(['gather-again', 'scatter-partial', 'gather-again']);
    expect(operations('B.layer')[8]).toMatchObject({ kernel: 'gemm.dw' });
  });

  it('answers its questions as the program does', () => {
    const inWords = (values: readonly (string | number)[]): string =>
      `${values.slice(0, -1).join(', ')} and ${values[values.length - 1]}`;
    const bucket = second.buckets.find((each) => each.views.some((view) => view.block === 1));
    const gather = second.items.find((item) => writes(item).includes(`W.${bucket?.name}`));
    const bytes = bytesSent(program).lists[0];
    const [waited] = waitsFor(first, 9);
    const [posted] = first.items[9]?.needs ?? [];
    const again = program.templates
      .find((each) => each.name === 'B.layer')
      ?.operations.filter((operation) => operation.why.rule === 'gather-again')
      .flatMap((operation) => operation.reads);
    const expanded = expandList(program, first);
    const forward = expanded.operations
      .filter(({ operation, item }) => item === 4 && operation.kind === 'collective' && operation.axis === 'tensor')
      .reduce((sum, operation) => sum + sentBytes(operation, degreesOf(program)), 0);
    const [replica] = groupOf(program.mesh, 1, ['data']).filter((rank) => rank !== 1);
    const [partner] = groupOf(program.mesh, 2, ['pipeline']).filter((rank) => rank !== 2);
    const tied = first.items.find((item) => ruleOf(item) === 'sum-tied');
    const parameters = first.buckets.reduce((sum, each) => sum + each.elements, 0);
    const answers = [
      `Line ${gather?.id} of list P1, on ranks ${inWords(ranksOf(second))}.`,
      `${(bytes?.byAxis['data']?.bytes ?? 0).toLocaleString('en-US')} bytes.`,
      `For line ${waited}, which writes what it sends.`,
      `For the end of line ${posted}.`,
      `${inFlight(first)} on the first stage, ${inFlight(second)} on the second.`,
      `${inWords([...(again ?? [])].sort())}.`,
      `${forward} bytes.`,
      `Rank ${replica}.`,
      `With rank ${partner}, in line ${tied?.id}.`,
      `${parameters} parameters, and optimizer state for ${parameters / degreesOf(program)('data')} of them.`,
    ];
    const said = guide
      .slice(guide.indexOf('<summary>Answers'))
      .split('\n')
      .filter((line) => /^\d+\. /.test(line));
    expect(said).toEqual(answers.map((answer, index) => `${index + 1}. ${answer}`));
  });
});
