import { describe, expect, it } from 'vitest';
import { LONGEST_JOB, readDocument } from './document.ts';

const read = (text: string) => readDocument(text, 'a.yaml', LONGEST_JOB);
const at = (text: string, path: string, part?: 'key' | 'value'): string => {
  const position = read(text).document?.locate(path, part);
  return position ? `${position.line}:${position.column}` : 'nowhere';
};

describe('a document', () => {
  it('reads YAML and JSON, tabs inside of brackets included', () => {
    expect(read('{\n\t"a": [1, 2],\n\t"b": {"c": null}\n}').document?.value).toEqual({ a: [1, 2], b: { c: null } });
    expect(read('a: on\nb: 0x10\nc: 1e3').document?.value).toEqual({ a: 'on', b: 16, c: 1000 });
  });
  it('expands aliases within a budget', () => {
    expect(read('a: &x { b: 1 }\nc: *x').document?.value).toEqual({ a: { b: 1 }, c: { b: 1 } });
  });
  it('takes the anchor that stands before the alias', () => {
    expect(read('a: &x 1\nb: *x\nc: &x 2\nd: *x').document?.value).toEqual({ a: 1, b: 1, c: 2, d: 2 });
  });
  it('gives YAML 1.1 no other meaning', () => {
    expect(read('%YAML 1.1\n---\na: yes\nb: 2001-01-01').document?.value).toEqual({ a: 'yes', b: '2001-01-01' });
  });
  it('keeps keys of numbers as text', () => {
    expect(read('1: a\ntrue: b').document?.value).toEqual({ '1': 'a', true: 'b' });
  });
  it('does not touch prototypes', () => {
    const { issues } = read('__proto__: { polluted: true }\na: { constructor: { prototype: { polluted: true } } }');
    expect(issues.map((each) => [each.code, each.path])).toEqual([
      ['KEY_UNKNOWN', '__proto__'],
      ['KEY_UNKNOWN', 'a.constructor'],
    ]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
  it('refuses a file beyond the limit before parsing it', () => {
    expect(read('a'.repeat(LONGEST_JOB + 1)).issues.map((each) => each.code)).toEqual(['TOO_LARGE']);
  });
  it.each([
    ['brackets', `${'['.repeat(100_000)}`],
    ['braces', '{a: '.repeat(50_000)],
    ['dashes', '- '.repeat(100_000)],
    ['question marks', '? '.repeat(100_000)],
    ['indentation', Array.from({ length: 600 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')],
  ])('refuses deep nesting of %s without exhausting the stack', (_, text) => {
    expect(read(text).issues.map((each) => each.code)).toEqual(['TOO_LARGE']);
  });
  it('refuses an alias of itself', () => {
    expect(read('a: &a [*a]').issues.map((each) => each.code)).toEqual(['TOO_LARGE']);
  });
});

describe('the place of a path', () => {
  const text = 'a:\n  b: [1, {c: 2}]\n  d.e: 3\nf: &x\n  g: 4\nh: *x\ni:\n';
  it('is that of the value, or of the key when asked', () => {
    expect([at(text, 'a.b'), at(text, 'a.b', 'key')]).toEqual(['2:6', '2:3']);
  });
  it('goes through lists and through keys with dots', () => {
    expect([at(text, 'a.b.1.c'), at(text, 'a.d.e')]).toEqual(['2:14', '3:8']);
  });
  it('follows aliases to what they stand for', () => {
    expect([at(text, 'h.g'), at(text, 'h')]).toEqual(['5:6', '6:4']);
  });
  it('is the nearest key above for what is missing, and the start for a missing root key', () => {
    expect([at(text, 'a.missing'), at(text, 'missing')]).toEqual(['1:1', '1:1']);
  });
  it('is the key of a value that is left blank', () => {
    expect(at(text, 'i')).toBe('7:1');
  });
  it('reaches into text that stands in the file as it is', () => {
    const within = (source: string) => read(source).document?.within('a', 5).column;
    expect([within('a: tp=8,pp=4'), within('a: "tp=8,pp=4"'), within('{"a": \'tp=8,pp=4\'}')]).toEqual([9, 10, 13]);
    expect(within('a: "tp=8\\x2cpp=4"')).toBe(4);
  });
});
