/** @file Words of the text form: a name stands bare when it cannot be mistaken for anything else, in quotes otherwise. */

/** Words that mean something at the start of a line or after the operands. */
const reserved: readonly string[] = [
  'program',
  'mesh',
  'experts',
  'group',
  'sizes',
  'optimizer',
  'buffers',
  'template',
  'list',
  'bucket',
  'unit',
  'lines',
  'over',
  'in',
  'dim',
  'reduce',
  'factor',
  'ring',
  'tree',
  'halving-doubling',
  'hierarchical',
  'direct',
  'inner',
  'to',
  'from',
  'again',
  'using',
  'needs',
  'why',
  'on',
  'of',
];

/** A name, or the name of an instance: `qkv.w`, `x3[0]`, `W.L0@3`. */
const bare = /^[A-Za-z_][\w.-]*(@\d+)?(\[[-\d,]+\])?(\.[A-Za-z_]\w*)?$/;
const bareName = /^[A-Za-z_][\w.-]*$/;

/** Any name as one word of a line. */
export const word = (name: string): string => (bare.test(name) && !reserved.includes(name) ? name : quoted(name));

/** A name that is followed by an index, a size or the like. */
export const nameWord = (name: string): string =>
  bareName.test(name) && !reserved.includes(name) ? name : quoted(name);

/** The label of a dim, which may be a number. */
export const labelWord = (label: string): string => (/^\w+$/.test(label) ? label : quoted(label));

/** A string that stands where a number may stand too. */
export const valueWord = (value: string | number): string =>
  typeof value === 'string' ? (bareName.test(value) ? value : quoted(value)) : numberWord(value);

/** A number so that reading it back gives the same one. */
export const numberWord = (value: number): string => (Object.is(value, -0) ? '-0' : String(value));

/** Escapes what would end the line or the quotes. */
const quoted = (name: string): string =>
  JSON.stringify(name).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** The name that a word stands for; undefined when it is neither bare nor well quoted. */
export function readWord(chunk: string): string | undefined {
  if (!chunk.startsWith('"')) return /^[^"\s]+$/.test(chunk) ? chunk : undefined;
  try {
    const value: unknown = JSON.parse(chunk);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A finite number as it is written, fractions `1/16` included. */
export function readNumber(chunk: string): number | undefined {
  const fraction = /^(\d+)\/(\d+)$/.exec(chunk);
  if (fraction) return Number(fraction[1]) / Number(fraction[2]);
  return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(chunk) ? Number(chunk) : undefined;
}
