/** Factor of each suffix: k, M, G are powers of ten, Ki, Mi, Gi powers of two. */
const factors: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  K: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
};

/** What a size may look like, as a pattern for schemas. */
export const sizePattern: RegExp = /^\d{1,15}(\.\d{1,9})?\s?([kKMG]|[KMG]i)?$/;

/** How to write a size, for hints. */
export const sizeHelp: string =
  'Write a whole number, alone or with k, M, G (powers of ten) or Ki, Mi, Gi (powers of two), for example 16M or 8Mi.';

/** The number that `16M`, `8Mi` or `8192` stands for, whole or not; undefined for anything else. */
export function sizeOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || !sizePattern.test(value)) return undefined;
  const suffix = value.replace(/^[\d.\s]+/, '');
  const factor = factors[suffix];
  return factor === undefined ? undefined : Number.parseFloat(value) * factor;
}
