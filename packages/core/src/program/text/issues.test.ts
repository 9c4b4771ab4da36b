import { describe, expect, it } from 'vitest';
import { InputError, renderIssue } from '../../errors/index.ts';
import { toyProgram } from '../fixtures/toy.fixture.ts';
import { parseProgram, printProgram } from './index.ts';

const text = printProgram(toyProgram());

/** What is said of the toy program's text after `from` has become `to` in its first place. */
function said(from: string | RegExp, to: string): string {
  const changed = text.replace(from, to);
  expect(changed).not.toBe(text);
  return parseProgram(changed, 'toy.txt').issues.map(renderIssue).join('\n');
}

describe('issues of a program text', () => {
  it('suggest a kernel, under its line', () => {
    expect(said(/rowsumexp( .*)/, 'rowsumxp$1')).toMatchInlineSnapshot(`
      "toy.txt:126:15  VALUE_UNKNOWN  rowsumxp is no kernel and no exchange. Did you mean rowsumexp?
            6  compute  rowsumxp       z mx labels     -> se tl
                        ^"
    `);
  });
  it('suggest a collective', () => {
    expect(said('all-gather:s ', 'all-gater:s')).toContain(
      'all-gater is no kernel and no exchange. Did you mean all-gather?',
    );
  });
  it('suggest a role, a lane, a rule and a type', () => {
    expect(said('activation  bf16', 'activatoin  bf16')).toContain('Did you mean activation?');
    expect(said('  data.gather ', '  data.gater  ')).toContain(
      'data.gater is not a known lane. Did you mean data.gather?',
    );
    expect(said('why gather-sequence', 'why gather-sequences')).toContain('Did you mean gather-sequence?');
    expect(said('int32', 'int3')).toContain('int3 is not a known type. Did you mean int32?');
  });
  it('name a buffer that is not declared, at its place', () => {
    expect(said(/send( +)x1\[0\] {3}/, 'send$1x1[0] z9')).toMatchInlineSnapshot(`
      "toy.txt:175:49  PROGRAM_NAME_UNKNOWN  There is no buffer z9. Did you mean z?
               5  act.out      send                 x1[0] z9            ->                to stage:1            why next-stage  # sends 32 B: the next layers are there
                                                          ^"
    `);
  });
  it('name an operand of a template that is neither buffer nor parameter, at its place', () => {
    expect(said('n1g qkv.w qkv.b', 'n1g qkv.v qkv.b')).toMatchInlineSnapshot(`
      "toy.txt:85:38  PROGRAM_NAME_UNKNOWN  qkv.v is neither a buffer nor a parameter in block 0 of list P0. Did you mean qkv.w?
             3  compute  gemm              n1g qkv.v qkv.b  -> qkv
                                               ^"
    `);
  });
  it('name templates, buckets and axes that are not there', () => {
    expect(said('compute      F.embed[0]', 'compute      F.embd[0] ')).toContain(
      'There is no template F.embd. Did you mean F.embed?',
    );
    expect(said('bucket:body', 'bucket:bodi')).toContain('There is no bucket bodi. Did you mean body?');
    expect(said('[s:4 b:2/data]', '[s:4 b:2/date]')).toContain('There is no axis or group date. Did you mean data?');
  });
  it('say when a call contradicts its template', () => {
    expect(said(/(F.layer\[0,0\] .*)x1\[0\]/, '$1x2[0]')).toMatchInlineSnapshot(`
      "toy.txt:174:43  PROGRAM_CONTRADICTS  The call says x0[0] -> x2[0], but its template makes it x0[0] -> x1[0]. Correct it, or leave it out.
               4  compute      F.layer[0,0]         x0[0]               -> x2[0]
                                                    ^"
    `);
  });
  it('say when lines are not in order', () => {
    expect(said(/ 6 {2}grad.in/, ' 9  grad.in')).toContain('Line 9 stands where line 6 has to be.');
    expect(said('stage:1 needs 4', 'stage:1 needs 6')).toContain('Line 6 needs line 6, which is not earlier.');
  });
  it('say when a block, micro-batch or stage is not there', () => {
    expect(said('F.layer[0,0]', 'F.layer[5,0]')).toContain('A layer template runs for blocks 0 to 1.');
    expect(said('F.layer[0,1]', 'F.layer[0,7]')).toContain('There is no micro-batch 7: it goes from 0 to 1.');
    expect(said('to stage:1', 'to stage:4')).toContain('There is no pipeline coordinate 4: it goes from 0 to 1.');
  });
  it('say what is missing in a line', () => {
    expect(said('to stage:1', '          ')).toContain('send does not say to which stage.');
    expect(said('over tensor direct', 'direct            ')).toContain(
      'This lane serves no axis of its own. Say which one: over tensor.',
    );
    expect(said('int32  [s:4 b:2/data]', 'int32               ')).toContain(
      'The line ends where dims in brackets has to stand.',
    );
  });
  it('speak of words that belong nowhere', () => {
    expect(said('optimizer adamw', 'optimiser adamw')).toMatchInlineSnapshot(`
      "toy.txt:5:1  PROGRAM_SYNTAX  optimiser is not the first word of a section. Did you mean optimizer?
          optimiser adamw
          ^"
    `);
    expect(said('stage:1 needs 4', 'stage:1 nedes 4')).toContain('nedes stands where nothing more is known.');
  });
  it('say what a whole program lacks', () => {
    expect(parseProgram('').issues.map(({ code, message }) => `${code} ${message}`)).toEqual([
      'KEY_MISSING schema is missing.',
      'KEY_MISSING name is missing.',
      'KEY_MISSING mesh is missing.',
      'KEY_MISSING layers is missing.',
      'KEY_MISSING microBatches is missing.',
      'KEY_MISSING lossScale is missing.',
      'KEY_MISSING optimizer is missing.',
    ]);
  });
});

describe('printing', () => {
  it('takes some of the lists', () => {
    expect(printProgram(toyProgram(), { list: 'P1' })).not.toContain('list P0');
    expect(printProgram(toyProgram(), { lists: ['P0', 'P1'] })).toBe(text);
    expect(parseProgram(printProgram(toyProgram(), { list: 'P1' })).program?.lists).toHaveLength(1);
  });
  it('refuses lists that are not there', () => {
    expect(() => printProgram(toyProgram(), { list: 'P2' })).toThrow(InputError);
    expect(() => printProgram(toyProgram(), { list: 'p1' })).toThrow('There is no list p1. Did you mean P1?');
  });
});
