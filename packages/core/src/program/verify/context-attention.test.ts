import { describe, expect, it } from 'vitest';
import { compileProgram } from '../../compile/index.ts';
import { toyJob, toyLayout } from '../../compile/toy.fixture.ts';
import { renderIssue } from '../../errors/index.ts';
import type { Layout } from '../../layout/index.ts';
import type { Operation, Program } from '../types.ts';
import { verifyProgram } from './index.ts';

const job = toyJob();
const programOf = (contextKind: Layout['contextKind'], context = 2): Program =>
  compileProgram(
    { ...job, batch: { ...job.batch, length: 8 } },
    toyLayout({
      tensor: 1,
      pipeline: 1,
      layersPerStage: [2],
      schedule: 'none',
      sequenceParallel: false,
      context,
      contextKind,
    }),
  );

/** The program with some operations of a template changed or left out. */
function changed(program: Program, name: string, change: (operation: Operation) => readonly Operation[]): Program {
  const templates = program.templates.map((template) =>
    template.name === name ? { ...template, operations: template.operations.flatMap(change) } : template,
  );
  return { ...program, templates };
}

const said = (program: Program): readonly string[] =>
  verifyProgram(program)
    .filter(({ code }) => code === 'ATTENTION_NOT_COVERED')
    .map(renderIssue);

const isShift = (operation: Operation, rule: string): boolean =>
  operation.kind === 'collective' && operation.collective === 'shift' && operation.why.rule === rule;

describe('attention of several ranks', () => {
  it.each(['ring', 'all-gather', 'all-to-all'] as const)('covers each pair once as it is compiled: %s', (kind) => {
    expect(verifyProgram(programOf(kind)).filter(({ severity }) => severity === 'error')).toEqual([]);
  });

  it('is refused when a block reads keys that have not been handed on', () => {
    const stays = changed(programOf('ring'), 'F.layer', (operation) =>
      operation.kind === 'compute' && operation.kernel === 'attention.block' && operation.attributes?.['hop'] === 1
        ? [{ ...operation, reads: operation.reads.map((read) => (read === 'kvb' ? 'kva' : read)) }]
        : [operation],
    );
    expect(said(stays)[0]).toContain('The block speaks of keys of hop 1: kva holds those of hop 0.');
  });

  it('is refused when a hop is left out, or done twice', () => {
    const blocks = (times: (hop: unknown) => number): Program =>
      changed(programOf('ring', 4), 'F.layer', (operation) =>
        operation.kind === 'compute' && operation.kernel === 'attention.block'
          ? Array.from({ length: times(operation.attributes?.['hop']) }, () => ({ ...operation }))
          : [operation],
      );
    const less = blocks((hop) => (hop === 2 ? 0 : 1));
    // The backward is told first that its forward has one block less.
    expect(verifyProgram(less).map(({ code }) => code)).toContain('BACKWARD_DIFFERS');
    const merged = changed(programOf('ring', 4), 'F.layer', (operation) =>
      operation.kind === 'compute' && operation.kernel === 'attention.block' && operation.attributes?.['hop'] === 2
        ? [{ ...operation, reads: [...operation.reads.slice(0, 2), 'none', 'none'] }]
        : [operation],
    );
    expect(said(merged)[0]).toContain(
      'o is used after the keys of 2 ranks, at hop 0: it needs those of all 4, at home.',
    );
  });

  it('is refused when gradients of keys do not come home', () => {
    let hops = 0;
    const away = changed(programOf('ring'), 'B.layer', (operation) =>
      isShift(operation, 'pass-key-gradients') && ++hops === 2
        ? [{ ...operation, reads: ['dkva'], writes: [{ buffer: 'dkvb' }] }]
        : [operation],
    );
    expect(said(away)[0]).toMatch(
      /^ATTENTION_NOT_COVERED {2}B\.layer:\d+ compute join-qkv: dkva is used after the keys of 1 ranks/,
    );
  });

  it('is refused when a part joins gradients that stand elsewhere', () => {
    const late = changed(programOf('ring', 4), 'B.layer', (operation) =>
      operation.kind === 'compute' &&
      operation.kernel === 'add' &&
      operation.reads[0] === 'dkvp' &&
      operation.reads[2] === 'dkvb'
        ? [{ ...operation, reads: ['dkvp', 'none', 'dkva'], writes: [{ buffer: 'dkvb' }] }]
        : [operation],
    );
    expect(said(late)[0]).toMatch(/dkvp of hop 1 is added to dkva of hop 0/);
  });
});
